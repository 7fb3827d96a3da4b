import type { ShardId } from "@gossip/contracts";
import type { ShardPosition } from "@gossip/coordination";
import type { RunAddress } from "@gossip/store-kit";
import { keyAfter } from "../layout/keyspace.ts";
import { levelPrefix, PIECE_SIZE, pieceEntry, readEntry, shardEntry } from "../layout/order-key.ts";
import { rangeOf, type Rows } from "../engine/rows.ts";

const NO_BYTES = new Uint8Array(0);

/** Yields the shards of a run by range start and then by id, starting after a position. */
export function walkInOrder(rows: Rows, address: RunAddress, after: ShardPosition | undefined): Generator<ShardId> {
  const rest = after && { start: after.keyRangeStart, shard: after.shard };
  return walkLevel(rows, { address, bytes: NO_BYTES, after: rest });
}

interface Level {
  readonly address: RunAddress;
  /** The pieces that lead to the level. */
  readonly bytes: Uint8Array;
  /** The position to continue after, relative to this level. */
  readonly after: { readonly start: Uint8Array; readonly shard: ShardId } | undefined;
}

function* walkLevel(rows: Rows, { address, bytes, after }: Level): Generator<ShardId> {
  const prefix = levelPrefix(address, bytes);
  const range = rangeOf(prefix);
  let start = prefix;
  if (after !== undefined && after.start.length > PIECE_SIZE) {
    const piece = after.start.subarray(0, PIECE_SIZE);
    const behind = { start: after.start.subarray(PIECE_SIZE), shard: after.shard };
    yield* walkLevel(rows, { address, bytes: joined(bytes, piece), after: behind });
    start = keyAfter(pieceEntry(prefix, piece));
  } else if (after !== undefined) {
    start = keyAfter(shardEntry(prefix, after.start, after.shard));
  }

  for (const key of rows.keys({ start, end: range.end })) {
    const entry = readEntry(key, prefix.length);
    if (entry.kind === "Shard") yield entry.shard;
    else yield* walkLevel(rows, { address, bytes: joined(bytes, entry.piece), after: undefined });
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
