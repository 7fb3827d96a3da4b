import { TENANT_ID_SIZE, TenantId, type ShardId } from "@gossip/contracts";
import { assertBytes, assertCount, err, ok, type Result } from "@gossip/stdx";
import { HALVES, HIGH, LOW, WHOLE } from "@gossip/stdx/internal";
import { headerAt, type BlobHeader } from "./blob-header.ts";
import type { BlobKind, CodecVersion } from "./blob-kind.ts";
import type { CodecError } from "./codec-error.ts";
import { crc32c } from "./crc32c.ts";
import type { EnumField } from "./enum-field.ts";
import { CHECKSUM_SIZE, HEADER_SIZE, MAX_FIELD_SIZE } from "./limits.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
const NO_ITEMS: readonly never[] = /* @__PURE__ */ Object.freeze([]);

/** A list field: its name, and its limits. */
export interface ListField {
  readonly field: string;
  readonly maxCount: number;
  /** Minimum size of an item in bytes. */
  readonly itemSize: number;
}

/**
 * Reads the fields of a blob in order, and remembers the first that cannot be read.
 *
 * After a failure there are no bytes left, every number is zero, every name the first of its set and every list empty.
 * So a caller reads all fields and checks once, at the end, whether the result is valid.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #end = 0;
  #failure: CodecError | undefined;

  /**
   * Reads blobs in `bytes`, which must not change while it does.
   *
   * One reader for all records of a listing: a view per record would be as much garbage as the record itself.
   */
  constructor(bytes: Uint8Array) {
    assertBytes(bytes, "blob");
    const { buffer, byteOffset, length } = bytes;
    this.#view = new DataView(buffer, byteOffset, length);
    // A plain array: a view of a Node `Buffer` costs three times as much.
    this.#bytes = new Uint8Array(buffer, byteOffset, length);
  }

  /**
   * Goes to the first field of the blob from `start` up to `end`. Returns its header if the kind and the checksum are
   * right. Throws `InvariantViolation` if the offsets are not in the buffer.
   */
  open(expected: BlobKind, start = 0, end = this.#bytes.length): Result<BlobHeader, CodecError> {
    assertCount(end, "end of a record", { min: 0, max: this.#bytes.length });
    assertCount(start, "start of a record", { min: 0, max: end });
    const header = headerAt(this.#bytes, start, end);
    if (!header.ok) return header;
    const { version, kind } = header.value;
    if (kind !== expected) return err({ kind: "UnexpectedBlobKind", expected, actual: kind });
    const fieldsEnd = end - (version === 1 ? 0 : CHECKSUM_SIZE);
    const fieldsStart = start + HEADER_SIZE;
    if (fieldsEnd < fieldsStart) return err({ kind: "Truncated", needed: CHECKSUM_SIZE, remaining: end - fieldsStart });
    const isWhole = version === 1 || this.#view.getInt32(fieldsEnd, true) === crc32c(this.#view, start, fieldsEnd);
    if (!isWhole) return err({ kind: "ChecksumMismatch", size: end - start });
    this.#at = fieldsStart;
    this.#end = fieldsEnd;
    this.#failure = undefined;
    return header;
  }

  /** Opens a blob and returns what `readFields`, which reads all of its fields, makes of them. */
  blob<T>(
    expected: BlobKind,
    readFields: (fields: FieldReader, version: CodecVersion) => T,
    start?: number,
    end?: number,
  ): Result<T, CodecError> {
    const opened = this.open(expected, start, end);
    if (!opened.ok) return opened;
    const value = readFields(this, opened.value.version);
    const remaining = this.#end - this.#at;
    if (remaining > 0) this.fail({ kind: "TrailingBytes", remaining });
    return this.#failure === undefined ? ok(value) : err(this.#failure);
  }

  /** The first failure so far. */
  get failure(): CodecError | undefined {
    return this.#failure;
  }

  /** Stops reading. Only the first failure counts. */
  fail(error: CodecError): void {
    this.#failure ??= error;
    this.#end = this.#at;
  }

  bool(field: string): boolean {
    const actual = this.#u8();
    if (actual > 1) this.fail({ kind: "InvalidBool", field, actual });
    return actual === 1;
  }

  name<Name extends string>({ field, names, first }: EnumField<Name>): Name {
    const actual = this.#u8();
    const name = names[actual];
    if (name === undefined) this.fail({ kind: "InvalidEnum", field, actual });
    return name ?? first;
  }

  u32(): number {
    if (!this.#has(4)) return 0;
    const at = this.#at;
    this.#at = at + 4;
    return this.#view.getUint32(at, true);
  }

  u64(): bigint {
    if (!this.#has(8)) return 0n;
    const at = this.#at;
    this.#at = at + 8;
    HALVES[LOW] = this.#view.getUint32(at, true);
    HALVES[HIGH] = this.#view.getUint32(at + 4, true);
    return WHOLE[0]!;
  }

  tenant(): TenantId {
    if (!this.#has(TENANT_ID_SIZE)) return TenantId.ZERO;
    const at = this.#at;
    this.#at = at + TENANT_ID_SIZE;
    return TenantId.fromBytes(this.#bytes.subarray(at, at + TENANT_ID_SIZE));
  }

  /** A view of the blob: copy what is kept. */
  bytes(field: string): Uint8Array {
    const size = this.#sizeOf(field);
    return size === 0 ? NO_BYTES : this.#bytes.subarray(this.#at - size, this.#at);
  }

  /** The same as a copy. */
  ownBytes(field: string): Uint8Array {
    const size = this.#sizeOf(field);
    return size === 0 ? NO_BYTES : this.#bytes.slice(this.#at - size, this.#at);
  }

  /** Skips a byte field and returns its size; 0 if it cannot be read. */
  #sizeOf(field: string): number {
    const size = this.u32();
    if (size > MAX_FIELD_SIZE) this.fail({ kind: "FieldTooLarge", field, actual: size, max: MAX_FIELD_SIZE });
    if (!this.#has(size)) return 0;
    this.#at += size;
    return size;
  }

  /** A count and its items. Allocates nothing before they are known to fit. */
  list<Item>({ field, maxCount, itemSize }: ListField, readItem: (fields: FieldReader) => Item): readonly Item[] {
    const count = this.u32();
    if (count > maxCount) this.fail({ kind: "FieldTooLarge", field, actual: count, max: maxCount });
    if (count === 0 || !this.#has(count * itemSize)) return NO_ITEMS;
    const items: Item[] = [];
    for (let index = 0; index < count; index++) items.push(readItem(this));
    return items;
  }

  #u8(): number {
    return this.#has(1) ? this.#bytes[this.#at++]! : 0;
  }

  #has(needed: number): boolean {
    const remaining = this.#end - this.#at;
    if (needed <= remaining) return true;
    this.fail({ kind: "Truncated", needed, remaining });
    return false;
  }
}

export function readShardId(fields: FieldReader): ShardId {
  return fields.u64() as ShardId;
}
