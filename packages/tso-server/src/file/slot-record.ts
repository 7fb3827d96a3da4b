import { err, ok, type Result } from "@gossip/stdx";
import { isPhysicalMs } from "@gossip/tso";
import { crc32c } from "./crc32c.ts";

/*
 * The state file: two slots, written in turn, each at the start of a page of its own.
 *
 *   offset 0      slot 0: record, the same record again
 *   offset 4096   slot 1: record, the same record again
 *   8192          end
 *
 *   record, 20 bytes:
 *     0   "GTSO"
 *     4   version, 1
 *     5   three zero bytes
 *     8   high water, u64 little endian
 *     16  CRC-32C of bytes 0 to 15, u32 little endian
 *
 * Why twice: a slot that fails its checksum may be a write that a crash tore, which was never acknowledged, or an
 * acknowledged bound that has rotted. The first may be ignored; ignoring the second would lower the bound. With
 * two copies a torn write always leaves one of them whole, the new first or the old second, and a rotten bit
 * spoils only one. A slot without a whole copy is neither, and the file is refused.
 */
export const RECORD_SIZE = 20;
export const SLOT_RECORD_SIZE = 2 * RECORD_SIZE;
export const SLOT_STRIDE = 4096;
export const STATE_FILE_SIZE = 2 * SLOT_STRIDE;

const MAGIC = Buffer.from("GTSO", "latin1");
const VERSION = 1;

/** Why bytes are not a state file that this version can trust. */
export type StateFlaw =
  | { readonly kind: "TooShort"; readonly size: number }
  | { readonly kind: "BadMagic" }
  | { readonly kind: "UnsupportedVersion"; readonly version: number }
  | { readonly kind: "CrcMismatch" }
  | { readonly kind: "OutOfRange" };

/** What a slot holds for this bound. */
export function encodeSlot(highWaterMs: number): Buffer {
  const bytes = Buffer.alloc(SLOT_RECORD_SIZE);
  MAGIC.copy(bytes, 0);
  bytes.writeUInt8(VERSION, 4);
  bytes.writeBigUInt64LE(BigInt(highWaterMs), 8);
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, 16)), 16);
  bytes.copy(bytes, RECORD_SIZE, 0, RECORD_SIZE);
  return bytes;
}

/** A whole file in which both slots hold this bound. */
export function encodeState(highWaterMs: number): Buffer {
  const bytes = Buffer.alloc(STATE_FILE_SIZE);
  const slot = encodeSlot(highWaterMs);
  slot.copy(bytes, 0);
  slot.copy(bytes, SLOT_STRIDE);
  return bytes;
}

/** The bound that a file holds, and the slot to write next: the one that does not hold it. */
export function decodeState(
  bytes: Uint8Array,
): Result<{ readonly highWaterMs: number; readonly nextSlot: 0 | 1 }, StateFlaw> {
  if (bytes.length < STATE_FILE_SIZE) return err({ kind: "TooShort", size: bytes.length });
  const first = decodeSlot(bytes.subarray(0, SLOT_RECORD_SIZE));
  if (!first.ok) return first;
  const second = decodeSlot(bytes.subarray(SLOT_STRIDE, SLOT_STRIDE + SLOT_RECORD_SIZE));
  if (!second.ok) return second;
  return second.value > first.value
    ? ok({ highWaterMs: second.value, nextSlot: 0 })
    : ok({ highWaterMs: first.value, nextSlot: 1 });
}

/** The greater of a slot's whole copies. */
function decodeSlot(bytes: Uint8Array): Result<number, StateFlaw> {
  const a = decodeRecord(bytes.subarray(0, RECORD_SIZE));
  const b = decodeRecord(bytes.subarray(RECORD_SIZE, SLOT_RECORD_SIZE));
  // Whole, but written by a version that may mean something else: never guess around it.
  for (const copy of [a, b]) if (!copy.ok && copy.error.kind === "UnsupportedVersion") return copy;
  if (!a.ok) return b.ok ? b : a;
  return b.ok && b.value > a.value ? b : a;
}

function decodeRecord(bytes: Uint8Array): Result<number, StateFlaw> {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (record.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) return err({ kind: "BadMagic" });
  if (record.readUInt32LE(16) !== crc32c(record.subarray(0, 16))) return err({ kind: "CrcMismatch" });
  const version = record.readUInt8(4);
  if (version !== VERSION) return err({ kind: "UnsupportedVersion", version });
  const highWaterMs = Number(record.readBigUInt64LE(8));
  return isPhysicalMs(highWaterMs) ? ok(highWaterMs) : err({ kind: "OutOfRange" });
}
