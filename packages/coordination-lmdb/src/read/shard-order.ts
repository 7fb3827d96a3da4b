import type { ShardId } from "@gossip/contracts";
import type { ShardPosition } from "@gossip/coordination";
import type { RunAddress } from "@gossip/store-kit";
import { keyAfter } from "../layout/keyspace.ts";
import { levelPrefix, PIECE_SIZE, pieceEntry, readEntry, readRest, shardEntry } from "../layout/order-key.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";

const NO_BYTES = new Uint8Array(0);

/** Yields the shards of a run by range start and then by id, starting after a position. */
export function walkInOrder(rows: Rows, address: RunAddress, after: ShardPosition | undefined): Generator<ShardId> {
  return walkLevel(rows, firstLevel(address, after), (_entry, _level, shard) => shard);
}

/** `walkInOrder` with the range start of each shard, which the index holds. */
export function walkPositions(
  rows: Rows,
  address: RunAddress,
  after: ShardPosition | undefined,
): Generator<ShardPosition> {
  return walkLevel(rows, firstLevel(address, after), (entry, { prefixSize, bytes }, shard) => ({
    keyRangeStart: joined(bytes, readRest(entry, prefixSize)),
    shard,
  }));
}

function firstLevel(address: RunAddress, after: ShardPosition | undefined): Level {
  return { address, bytes: NO_BYTES, after: after && { start: after.keyRangeStart, shard: after.shard } };
}

/** Turns the entry of a shard into what a walk yields. */
type ReadShardEntry<T> = (
  entry: Buffer,
  level: { readonly prefixSize: number; readonly bytes: Uint8Array },
  shard: ShardId,
) => T;

interface Level {
  readonly address: RunAddress;
  /** The pieces that lead to the level. */
  readonly bytes: Uint8Array;
  /** The position to continue after, relative to this level. */
  readonly after: { readonly start: Uint8Array; readonly shard: ShardId } | undefined;
}

function* walkLevel<T>(rows: Rows, { address, bytes, after }: Level, read: ReadShardEntry<T>): Generator<T> {
  const prefix = levelPrefix(address, bytes);
  const range = rangeOf(prefix);
  let start = prefix;
  if (after !== undefined && after.start.length > PIECE_SIZE) {
    const piece = after.start.subarray(0, PIECE_SIZE);
    const behind = { start: after.start.subarray(PIECE_SIZE), shard: after.shard };
    yield* walkLevel(rows, { address, bytes: joined(bytes, piece), after: behind }, read);
    start = keyAfter(pieceEntry(prefix, piece));
  } else if (after !== undefined) {
    start = keyAfter(shardEntry(prefix, after.start, after.shard));
  }

  const level = { prefixSize: prefix.length, bytes };
  for (const key of rows.keys({ start, end: range.end })) {
    const entry = readEntry(key, prefix.length);
    if (entry.kind === "Shard") yield read(key, level, entry.shard);
    else yield* walkLevel(rows, { address, bytes: joined(bytes, entry.piece), after: undefined }, read);
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
