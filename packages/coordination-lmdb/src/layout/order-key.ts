import { createHash } from "node:crypto";
import type { ShardId } from "@gossip/contracts";
import type { RunAddress } from "@gossip/store-kit";
import { lastU64, RowKind, RUN_KEY_SIZE, runKey, U64_SIZE, writeU64 } from "./keyspace.ts";

/**
 * The index of a run's shards by range start. A start may be longer than a key of the tree.
 *
 * ```text
 * level of no bytes    … 00            start, escaped · 00 00 · shard     a shard
 *                                       piece, escaped · 00 01             continues after this piece
 * level of some bytes  … 01 · digest    rest, escaped  · 00 00 · shard
 *                                       piece, escaped · 00 01
 * ```
 *
 * A start is cut into pieces. Nearly every start has one piece and is in the first level. A longer one is in the level
 * of its earlier pieces, which is identified by their digest, and the level before has one entry that leads there. A walk
 * over the entries of a level that descends wherever an entry leads on yields the starts in order.
 *
 * A zero byte is written as `00 ff`, so that the end of a start sorts below every byte that could follow.
 */
export const PIECE_SIZE = 896;

const DIGEST_SIZE = 16;
const TERMINATOR_SIZE = 2;
const ZERO = 0x00;
const ESCAPED_ZERO = 0xff;
const END_OF_START = 0x00;
const GOES_ON = 0x01;

/** The prefix of all entries of a level. `bytes` are the pieces that lead there. */
export function levelPrefix(address: RunAddress, bytes: Uint8Array): Buffer {
  if (bytes.length === 0) {
    const prefix = runKey(RowKind.Order, address, 1);
    prefix[RUN_KEY_SIZE] = 0;
    return prefix;
  }
  const prefix = runKey(RowKind.Order, address, 1 + DIGEST_SIZE);
  prefix[RUN_KEY_SIZE] = 1;
  createHash("sha256")
    .update(bytes)
    .digest()
    .copy(prefix, RUN_KEY_SIZE + 1, 0, DIGEST_SIZE);
  return prefix;
}

/** The size of the prefix of an entry. */
export function levelSizeOf(entry: Uint8Array): number {
  return RUN_KEY_SIZE + 1 + (entry[RUN_KEY_SIZE] === 0 ? 0 : DIGEST_SIZE);
}

/** The entry of a shard in the level where its start ends. `rest` is the last piece of the start. */
export function shardEntry(prefix: Buffer, rest: Uint8Array, shard: ShardId): Buffer {
  const entry = entryOf(prefix, rest, { terminator: END_OF_START, extraSize: U64_SIZE });
  writeU64(entry, shard, entry.length - U64_SIZE);
  return entry;
}

/** The entry that leads to the level after a piece. */
export function pieceEntry(prefix: Buffer, piece: Uint8Array): Buffer {
  return entryOf(prefix, piece, { terminator: GOES_ON, extraSize: 0 });
}

/** All entries for the start of a shard: those that lead to it, and its own as the last. */
export function orderEntries(address: RunAddress, start: Uint8Array, shard: ShardId): Buffer[] {
  const entries: Buffer[] = [];
  let from = 0;
  for (; start.length - from > PIECE_SIZE; from += PIECE_SIZE) {
    entries.push(pieceEntry(levelPrefix(address, start.subarray(0, from)), start.subarray(from, from + PIECE_SIZE)));
  }
  entries.push(shardEntry(levelPrefix(address, start.subarray(0, from)), start.subarray(from), shard));
  return entries;
}

/** An entry of the index: a shard, or a piece that leads to another level. */
export type OrderEntry =
  | { readonly kind: "Shard"; readonly shard: ShardId }
  | { readonly kind: "Piece"; readonly piece: Uint8Array };

export function readEntry(entry: Uint8Array, prefixSize: number): OrderEntry {
  const end = findTerminator(entry, prefixSize);
  if (entry[end + 1] !== GOES_ON) return { kind: "Shard", shard: lastU64(entry) as ShardId };
  return { kind: "Piece", piece: unescape(entry.subarray(prefixSize, end)) };
}

/** The bytes that the entry of a shard has in its level: the last piece of the shard's start. */
export function readRest(entry: Uint8Array, prefixSize: number): Uint8Array {
  return unescape(entry.subarray(prefixSize, findTerminator(entry, prefixSize)));
}

/** The offset of the first zero that is not part of an escaped zero. */
function findTerminator(entry: Uint8Array, from: number): number {
  let at = from;
  while (at < entry.length && !(entry[at] === ZERO && entry[at + 1] !== ESCAPED_ZERO)) at += entry[at] === ZERO ? 2 : 1;
  return at;
}

function entryOf(
  prefix: Buffer,
  bytes: Uint8Array,
  { terminator, extraSize }: { readonly terminator: number; readonly extraSize: number },
): Buffer {
  const zeros = countZeros(bytes);
  const entry = Buffer.allocUnsafe(prefix.length + bytes.length + zeros + TERMINATOR_SIZE + extraSize);
  entry.set(prefix);
  let at = prefix.length;
  if (zeros === 0) {
    entry.set(bytes, at);
    at += bytes.length;
  } else {
    for (const byte of bytes) {
      entry[at++] = byte;
      if (byte === ZERO) entry[at++] = ESCAPED_ZERO;
    }
  }
  entry[at++] = ZERO;
  entry[at] = terminator;
  return entry;
}

function unescape(escaped: Uint8Array): Uint8Array {
  // Most starts have no zero, and one copy is enough.
  if (!escaped.includes(ZERO)) return new Uint8Array(escaped);
  const bytes = new Uint8Array(escaped.length);
  let size = 0;
  for (let at = 0; at < escaped.length; at++) {
    bytes[size++] = escaped[at]!;
    if (escaped[at] === ZERO) at++;
  }
  return bytes.slice(0, size);
}

function countZeros(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === ZERO) count++;
  return count;
}
