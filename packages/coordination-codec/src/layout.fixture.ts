import { CursorSemantics, ParkReason, RunStatus, ShardStatus, TenantId } from "@gossip/contracts";
import { OpKind, OpResult, RunOpKind, type RunRecord, type ShardRecord } from "@gossip/coordination";
import type { CodecVersion } from "./blob-kind.ts";

// The layouts of both versions once more, by Node's Buffer and a bit at a time: slow, plain, and written from the
// document and not from the codec.

const u8 = (value: number): Buffer => Buffer.of(value);
const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: bigint): Buffer => Buffer.from(BigUint64Array.of(value).buffer);
const bytes = (value: Uint8Array): Buffer => Buffer.concat([u32(value.length), value]);
const list = <T>(items: readonly T[], write: (item: T) => Buffer): Buffer =>
  Buffer.concat([u32(items.length), ...items.map(write)]);
const option = <T>(value: T | undefined, write: (value: T) => Buffer): Buffer =>
  value === undefined ? u8(0) : Buffer.concat([u8(1), write(value)]);
const since2 = (version: CodecVersion, field: Buffer): Buffer => (version === 1 ? Buffer.alloc(0) : field);

/** The CRC-32C of some bytes, by its definition. */
export function crc32cByBits(blob: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of blob) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1;
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

/** A blob of version 2 with these fields, whatever they are. */
export function sealed(blob: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([blob, u32(crc32cByBits(blob))]));
}

/** The same blob with a checksum that fits what it holds now. */
export function resealed(blob: Uint8Array): Uint8Array {
  return sealed(blob.subarray(0, -4));
}

function finished(version: CodecVersion, blob: Buffer): Uint8Array {
  return version === 1 ? new Uint8Array(blob) : sealed(blob);
}

export function shardBlob(record: ShardRecord, version: CodecVersion): Uint8Array {
  const blob = Buffer.concat([
    Buffer.from(`v${version}`),
    u8(2),
    TenantId.toBytes(record.tenant),
    u64(record.run),
    u64(record.shard),
    u8(ShardStatus.codes[record.status]),
    option(record.parkReason, (reason) => u8(ParkReason.codes[reason])),
    bytes(record.spec.keyRangeStart),
    bytes(record.spec.keyRangeEnd),
    bytes(record.spec.metadata),
    option(record.cursor.lastKey, bytes),
    option(record.cursor.token, bytes),
    u8(CursorSemantics.codes[record.cursorSemantics]),
    option(record.lease, ({ owner, deadline, opId }) =>
      Buffer.concat([u64(owner), u64(deadline), since2(version, u64(opId))]),
    ),
    u64(record.fenceEpoch),
    option(record.parent, u64),
    list(record.spawned, u64),
    list(record.opLog, (entry) =>
      Buffer.concat([
        u64(entry.opId),
        u8(OpKind.codes[entry.kind]),
        u8(OpResult.codes[entry.result]),
        u64(entry.payloadHash),
        u64(entry.executedAt),
      ]),
    ),
    since2(version, Buffer.concat([u64(record.lastTime), u32(record.attempts)])),
  ]);
  return finished(version, blob);
}

export function runBlob(record: RunRecord, version: CodecVersion): Uint8Array {
  const blob = Buffer.concat([
    Buffer.from(`v${version}`),
    u8(1),
    TenantId.toBytes(record.tenant),
    u64(record.run),
    u8(CursorSemantics.codes[record.config.cursorSemantics]),
    u64(record.config.leaseDuration),
    option(record.config.maxShardRetries, u32),
    u8(RunStatus.codes[record.status]),
    u64(record.createdAt),
    option(record.completedAt, u64),
    list(record.rootShards, u64),
    list(record.opLog, (entry) =>
      Buffer.concat([
        u64(entry.opId),
        u8(RunOpKind.codes[entry.kind]),
        u64(entry.payloadHash),
        u64(entry.executedAt),
        entry.result.kind === "Ack" ? u8(2) : Buffer.concat([u8(1), list(entry.result.shards, u64)]),
      ]),
    ),
    since2(version, u64(record.lastTime)),
  ]);
  return finished(version, blob);
}
