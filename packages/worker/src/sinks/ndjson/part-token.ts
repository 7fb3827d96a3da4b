import { FenceEpoch, ShardId } from "@gossip/contracts";

/** A part file: which shard's, of which lease, and the how manyth of that lease. */
export interface PartName {
  readonly shard: ShardId;
  readonly fence: FenceEpoch;
  readonly attempt: number;
}

/**
 * How much counts of a shard's results: a part up to a number of bytes, and what its header says came before.
 *
 * It names the shard because the first child of a replaced shard goes on from the cursor of its parent.
 */
export interface PartToken {
  readonly part: PartName;
  /** Of the part, its header included. */
  readonly size: number;
  /** Of all results of the shard so far, headers left out. */
  readonly total: number;
}

/** What counts of a shard that has written nothing. */
export const NOTHING_WRITTEN: Uint8Array = /* @__PURE__ */ Uint8Array.of(1);

const VERSION = 2;
const TOKEN_SIZE = 1 + 8 + 8 + 4 + 8 + 8;

export function encodeToken(token: PartToken | undefined): Uint8Array {
  if (token === undefined) return NOTHING_WRITTEN;
  const bytes = Buffer.alloc(TOKEN_SIZE);
  bytes[0] = VERSION;
  bytes.writeBigUInt64BE(token.part.shard, 1);
  bytes.writeBigUInt64BE(token.part.fence, 9);
  bytes.writeUInt32BE(token.part.attempt, 17);
  bytes.writeBigUInt64BE(BigInt(token.size), 21);
  bytes.writeBigUInt64BE(BigInt(token.total), 29);
  return new Uint8Array(bytes);
}

/** What a cursor's token says; nothing written, where there is none. `null` where the bytes are no token. */
export function decodeToken(token: Uint8Array | undefined): PartToken | undefined | null {
  if (token === undefined) return undefined;
  if (token.length === NOTHING_WRITTEN.length && token[0] === NOTHING_WRITTEN[0]) return undefined;
  if (token.length !== TOKEN_SIZE || token[0] !== VERSION) return null;
  const bytes = Buffer.from(token.buffer, token.byteOffset, token.length);
  const size = bytes.readBigUInt64BE(21);
  const total = bytes.readBigUInt64BE(29);
  if (size > BigInt(Number.MAX_SAFE_INTEGER) || total > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  const part = {
    shard: ShardId.fromRaw(bytes.readBigUInt64BE(1)),
    fence: FenceEpoch.fromRaw(bytes.readBigUInt64BE(9)),
    attempt: bytes.readUInt32BE(17),
  };
  return { part, size: Number(size), total: Number(total) };
}
