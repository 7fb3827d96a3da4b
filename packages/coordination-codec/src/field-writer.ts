import { SHARD_OP_LOG_CAP, type RunId, type ShardId, type TenantId } from "@gossip/contracts";
import type { OpLog, OpLogEntry } from "@gossip/coordination";
import { assert, assertBytes, assertCount } from "@gossip/stdx";
import { BlobKind, CODEC_VERSION } from "./blob-kind.ts";
import { CrcShift } from "./crc-shift.ts";
import { EMPTY_CRC, updateCrc } from "./crc32c.ts";
import type { EnumField } from "./enum-field.ts";
import type { EncodedFront } from "./front-table.ts";
import { CHECKSUM_SIZE, HEADER_SIZE } from "./limits.ts";
import { LOG_SIZE, LOGS } from "./log-table.ts";
import { codeOf, putU64 } from "./put-field.ts";
import { OP_SIZE, putOp } from "./put-op.ts";
import { TENANTS } from "./tenant-table.ts";

const DEFAULT_CAPACITY = 4096;
const U32_BOUNDS = { min: 0, max: 0xffff_ffff };

/** A buffer that one large run blew up is not kept above this. */
const KEPT_CAPACITY = 256 * 1024;

const OVER_LOG = /* @__PURE__ */ new CrcShift(LOG_SIZE);

/** A `RecordWriter` from inside: how the codec writes one field. */
export class FieldWriter {
  #bytes = new Uint8Array(DEFAULT_CAPACITY);
  #view = new DataView(this.#bytes.buffer);
  /** Where the whole records end, and the one that is being written begins. */
  #start = 0;
  #at = 0;
  /** Up to where the checksum of the blob is known, and its register there. */
  #sumAt = 0;
  #sum = EMPTY_CRC;

  get length(): number {
    return this.#start;
  }

  view(start = 0): Uint8Array {
    assertCount(start, "start of the view", { min: 0, max: this.#start });
    return this.#bytes.subarray(start, this.#start);
  }

  toOwned(start = 0): Uint8Array {
    assertCount(start, "start of the copy", { min: 0, max: this.#start });
    return this.#bytes.slice(start, this.#start);
  }

  reset(): void {
    this.#start = 0;
    this.#at = 0;
    if (this.#bytes.length > KEPT_CAPACITY) this.#resize(KEPT_CAPACITY);
  }

  /** Begin a blob. Whatever an unfinished one left is overwritten. */
  begin(kind: BlobKind): void {
    this.#at = this.#start;
    this.#sumAt = this.#start;
    this.#sum = EMPTY_CRC;
    const at = this.#claim(HEADER_SIZE);
    this.#bytes[at] = 0x76;
    this.#bytes[at + 1] = 0x30 + CODEC_VERSION;
    this.#bytes[at + 2] = BlobKind.codes[kind];
  }

  /** Begin a blob with a front that is known. */
  beginWith({ bytes, register }: EncodedFront): void {
    this.#at = this.#start;
    const at = this.#claim(bytes.length);
    this.#bytes.set(bytes, at);
    this.#sum = register;
    this.#sumAt = this.#at;
  }

  /** A copy of what has been written of the blob that was begun, or `undefined` where that is more than `maxSize`. */
  copyFront(maxSize: number): EncodedFront | undefined {
    if (this.#at - this.#start > maxSize) return undefined;
    this.#sum = updateCrc(this.#sum, this.#view, this.#sumAt, this.#at);
    this.#sumAt = this.#at;
    return { bytes: this.#bytes.slice(this.#start, this.#at), register: this.#sum };
  }

  /** Write the checksum. Only now the blob counts. */
  seal(): void {
    const at = this.#claim(CHECKSUM_SIZE);
    this.#view.setInt32(at, ~updateCrc(this.#sum, this.#view, this.#sumAt, at), true);
    this.#start = this.#at;
  }

  bool(value: boolean): void {
    const at = this.#claim(1);
    this.#bytes[at] = value ? 1 : 0;
  }

  code<Name extends string>(field: EnumField<Name>, name: Name): void {
    const code = codeOf(field, name);
    const at = this.#claim(1);
    this.#bytes[at] = code;
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
    const bytes = TENANTS.bytesOf(id);
    const at = this.#claim(bytes.length);
    this.#bytes.set(bytes, at);
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

  /** The log of a shard. Run and shard only say where its bytes may be known from. */
  opLog(log: OpLog<OpLogEntry>, run: RunId, shard: ShardId): void {
    this.count(log, "opLog", SHARD_OP_LOG_CAP);
    const at = this.#claim(log.length * OP_SIZE);
    if (log.length === SHARD_OP_LOG_CAP) {
      const { bytes, register } = LOGS.encodedOf(log, run, shard);
      this.#bytes.set(bytes, at);
      this.#sum = OVER_LOG.of(updateCrc(this.#sum, this.#view, this.#sumAt, at)) ^ register;
      this.#sumAt = at + LOG_SIZE;
      return;
    }
    for (let index = 0; index < log.length; index++) putOp(this.#view, at + index * OP_SIZE, log[index]!);
  }

  /** Make room for `size` bytes at the end and return where they start. */
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

/** Throw unless `out` is a writer of this package, whatever its type says. */
export function assertFieldWriter(out: unknown): asserts out is FieldWriter {
  assert(out instanceof FieldWriter, "out must be a RecordWriter");
}

// Apart from the checks, so that those are small enough to be inlined wherever they are called, and make no closure for a
// message that is hardly ever told.
function refuseList(value: unknown, field: string): never {
  assert(false, `${field} must be an array, got a value of type ${typeof value}`);
}

function refuseSize(field: string, allowed: string, given: number): never {
  assert(false, `${field} must have at most ${allowed}, got ${given}`);
}
