import { FenceEpoch, ShardId } from "@gossip/contracts";

/** Names a part file: its shard, its lease, and its number among the parts of that lease. */
export interface PartName {
  readonly shard: ShardId;
  readonly fence: FenceEpoch;
  readonly attempt: number;
}

/**
 * How much of a shard's results counts: a part up to a number of bytes, and the earlier parts that its header names.
 *
 * It names the shard because the first child of a split shard continues from its parent's cursor.
 */
export interface PartToken {
  readonly part: PartName;
  /** The bytes of the part that count, including its header. */
  readonly size: number;
  /** The size of all results of the shard so far, without headers. */
  readonly total: number;
  /**
   * CRC-32 of all results of the shard so far, without headers. `undefined` if a version without checksums wrote some
   * of them.
   */
  readonly crc: number | undefined;
}

/** The token of a shard that has written nothing. */
export const NOTHING_WRITTEN: Uint8Array = /* @__PURE__ */ Uint8Array.of(1);

const VERSION = 3;
const TOKEN_SIZE = 1 + 8 + 8 + 4 + 8 + 8 + 4;
/** Version 2 has no checksum. */
const OLD_VERSION = 2;
const OLD_TOKEN_SIZE = TOKEN_SIZE - 4;

export function encodeToken(token: PartToken | undefined): Uint8Array {
  if (token === undefined) return NOTHING_WRITTEN;
  const { crc } = token;
  const bytes = Buffer.alloc(crc === undefined ? OLD_TOKEN_SIZE : TOKEN_SIZE);
  bytes[0] = crc === undefined ? OLD_VERSION : VERSION;
  bytes.writeBigUInt64BE(token.part.shard, 1);
  bytes.writeBigUInt64BE(token.part.fence, 9);
  bytes.writeUInt32BE(token.part.attempt, 17);
  bytes.writeBigUInt64BE(BigInt(token.size), 21);
  bytes.writeBigUInt64BE(BigInt(token.total), 29);
  if (crc !== undefined) bytes.writeUInt32BE(crc, OLD_TOKEN_SIZE);
  return new Uint8Array(bytes);
}

/** Decode a cursor's token. `undefined` means that nothing was written, `null` that the bytes are not a token of this sink. */
export function decodeToken(token: Uint8Array | undefined): PartToken | undefined | null {
  if (token === undefined) return undefined;
  if (token.length === NOTHING_WRITTEN.length && token[0] === NOTHING_WRITTEN[0]) return undefined;
  const isOld = token.length === OLD_TOKEN_SIZE && token[0] === OLD_VERSION;
  if (!isOld && (token.length !== TOKEN_SIZE || token[0] !== VERSION)) return null;
  const bytes = Buffer.from(token.buffer, token.byteOffset, token.length);
  const size = bytes.readBigUInt64BE(21);
  const total = bytes.readBigUInt64BE(29);
  if (size > BigInt(Number.MAX_SAFE_INTEGER) || total > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  const part = {
    shard: ShardId.fromRaw(bytes.readBigUInt64BE(1)),
    fence: FenceEpoch.fromRaw(bytes.readBigUInt64BE(9)),
    attempt: bytes.readUInt32BE(17),
  };
  return {
    part,
    size: Number(size),
    total: Number(total),
    crc: isOld ? undefined : bytes.readUInt32BE(OLD_TOKEN_SIZE),
  };
}
