import { SHARD_OP_LOG_CAP, TENANT_ID_SIZE, type TenantId } from "@gossip/contracts";
import { writeTenantId } from "@gossip/contracts/internal";
import type { OpLog, OpLogEntry } from "@gossip/coordination";
import { assert, assertBytes, assertCount } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { BlobKind, CODEC_VERSION } from "./blob-kind.ts";
import { crc32c } from "./crc32c.ts";
import type { EnumField } from "./enum-field.ts";
import { CHECKSUM_SIZE, HEADER_SIZE, OP_SIZE } from "./limits.ts";
import { codeOf, putOp, putU64 } from "./put-op.ts";

const DEFAULT_CAPACITY = 4096;
const U32_BOUNDS = { min: 0, max: 0xffff_ffff };

/** `reset` shrinks a buffer above this size, which one large run may have caused. */
const KEPT_CAPACITY = 256 * 1024;

/**
 * A buffer that records are appended to.
 *
 * Keep it and `reset` it: once the buffer has grown, encoding allocates nothing. A record counts only when it is
 * complete, so one that is refused halfway leaves nothing behind.
 */
export class RecordWriter {
  #bytes = new Uint8Array(DEFAULT_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  /** The end of the finished records, where the current one begins. */
  #start = 0;
  #at = 0;

  /** The size of the records since the last `reset`, in bytes. */
  get length(): number {
    return this.#start;
  }

  /** A view of the records from `start` on, valid until the next write or `reset`. */
  view(start = 0): Uint8Array {
    assertCount(start, "start of the view", { min: 0, max: this.#start });
    return this.#bytes.subarray(start, this.#start);
  }

  /** A copy of the records from `start` on. */
  toOwned(start = 0): Uint8Array {
    assertCount(start, "start of the copy", { min: 0, max: this.#start });
    return this.#bytes.slice(start, this.#start);
  }

  /** Drops all records. Earlier views are no longer valid. */
  reset(): void {
    this.#start = 0;
    this.#at = 0;
    if (this.#bytes.length > KEPT_CAPACITY) this.#resize(KEPT_CAPACITY);
  }

  /** Begin a blob. Overwrites an unfinished one. */
  begin(kind: BlobKind): void {
    this.#at = this.#start;
    const at = this.#claim(HEADER_SIZE);
    this.#bytes[at] = 0x76;
    this.#bytes[at + 1] = 0x30 + CODEC_VERSION;
    this.#bytes[at + 2] = BlobKind.codes[kind];
  }

  /** Write the checksum, which finishes the blob. */
  seal(): void {
    const at = this.#claim(CHECKSUM_SIZE);
    this.#view.setInt32(at, crc32c(this.#view, this.#start, at), true);
    this.#start = this.#at;
  }

  /** Append a finished blob. */
  blob(bytes: Uint8Array): void {
    this.#at = this.#start;
    const at = this.#claim(bytes.length);
    this.#bytes.set(bytes, at);
    this.#start = this.#at;
  }

  bool(value: boolean): void {
    const at = this.#claim(1);
    this.#bytes[at] = value ? 1 : 0;
  }

  code<Name extends string>(field: EnumField<Name>, name: Name): void {
    const at = this.#claim(1);
    this.#bytes[at] = codeOf(field, name);
  }

  u32(value: number, field: string): void {
    assertCount(value, field, U32_BOUNDS);
    const at = this.#claim(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value: bigint, field: string): void {
    const at = this.#claim(8);
    putU64(this.#view, at, value, field);
  }

  tenant(id: TenantId): void {
    const at = this.#claim(TENANT_ID_SIZE);
    writeTenantId(id, this.#bytes, at);
  }

  bytes(value: Uint8Array, field: string, maxSize: number): void {
    assertBytes(value, field);
    const size = value.length;
    if (size > maxSize) refuseSize(field, `${maxSize} bytes`, size);
    const at = this.#claim(4 + size);
    this.#view.setUint32(at, size, true);
    this.#bytes.set(value, at + 4);
  }

  /** How many items follow. */
  count(items: readonly unknown[], field: string, maxCount: number): void {
    if (!Array.isArray(items)) refuseList(items, field);
    if (items.length > maxCount) refuseSize(field, `${maxCount} items`, items.length);
    const at = this.#claim(4);
    this.#view.setUint32(at, items.length, true);
  }

  ids(ids: readonly bigint[], field: string, maxCount: number): void {
    this.count(ids, field, maxCount);
    // By index: an iterator would be the only thing here that allocates.
    for (let index = 0; index < ids.length; index++) this.u64(ids[index]!, field);
  }

  /** A shard's log: two thirds of a record, so its entries are written without a bounds check for each field. */
  opLog(log: OpLog<OpLogEntry>): void {
    this.count(log, "opLog", SHARD_OP_LOG_CAP);
    let at = this.#claim(log.length * OP_SIZE);
    for (let index = 0; index < log.length; index++, at += OP_SIZE) {
      putOp(this.#view, at, log[index]!);
    }
  }

  /** Reserves `size` bytes at the end and returns their offset. */
  #claim(size: number): number {
    const at = this.#at;
    const end = at + size;
    // `#resize` swaps the buffer, so callers look it up after this.
    if (end > this.#bytes.length) this.#resize(Math.max(end, 2 * this.#bytes.length));
    this.#at = end;
    return at;
  }

  #resize(capacity: number): void {
    const bytes = new Uint8Array(capacity);
    bytes.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

/** Throws unless `record` can be written to `out`. For callers that no compiler checked. */
export function assertWritable(record: unknown, what: string, out: unknown): void {
  assertObject(record, what);
  assert(out instanceof RecordWriter, "out must be a RecordWriter");
}

// A scratch buffer: encoding is synchronous, so one is enough.
const scratch = /* @__PURE__ */ new RecordWriter();

/** The bytes that `encodeInto` writes for a record. */
export function encodeAlone<T>(record: T, encodeInto: (record: T, out: RecordWriter) => void): Uint8Array {
  scratch.reset();
  encodeInto(record, scratch);
  return scratch.toOwned();
}

// Separate from the checks, so that these stay small and create no closure for a message that is rarely needed.
function refuseList(value: unknown, field: string): never {
  assert(false, `${field} must be an array, got a value of type ${typeof value}`);
}

function refuseSize(field: string, allowed: string, given: number): never {
  assert(false, `${field} must have at most ${allowed}, got ${given}`);
}
