import type { ShardId } from "@gossip/contracts";
import type { IndexEntry } from "@gossip/coordination-fsck";
import type { RunAddress } from "@gossip/store-kit";
import { addressOf, endOf, lastU64, RowKind, RUN_KEY_SIZE } from "../layout/keyspace.ts";
import { levelSizeOf, readEntry } from "../layout/order-key.ts";
import { rangeOf, type KeyRange } from "../engine/rows.ts";
import type { SnapshotEntries } from "./snapshot-entries.ts";

/** Kinds of rows that belong to a run. */
const RUN_KINDS = [
  RowKind.RunHead,
  RowKind.RunRecord,
  RowKind.RunCount,
  RowKind.Starved,
  RowKind.DeletedRun,
  RowKind.Unswept,
  RowKind.Census,
  RowKind.StatusCount,
  RowKind.ShardRecord,
  RowKind.Claim,
  RowKind.Status,
  RowKind.Order,
  RowKind.Note,
] as const;

/** Kinds of rows that can be rebuilt from the records. */
export const INDEX_KINDS = [RowKind.Claim, RowKind.Status, RowKind.Order] as const;

const INDEX_NAMES: Readonly<Record<number, string>> = {
  [RowKind.Claim]: "claim",
  [RowKind.Status]: "status",
  [RowKind.Order]: "order",
};

/** All runs that have any row, each once. */
export function listAddresses(entries: SnapshotEntries): RunAddress[] {
  const found = new Map<string, RunAddress>();
  for (const kind of RUN_KINDS) {
    const { start, end } = rangeOf(Buffer.of(kind));
    // Seeks from the first row of a run to the first row of the next.
    let from = start;
    for (
      let key = firstKey(entries, { start: from, end });
      key !== undefined;
      key = firstKey(entries, { start: from, end })
    ) {
      const prefix = key.subarray(0, RUN_KEY_SIZE);
      found.set(prefix.toString("latin1", 1), addressOf(key));
      from = endOf(Buffer.from(prefix));
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address);
}

/** The entry for a key of an index. */
export function indexEntryOf(key: Uint8Array): IndexEntry {
  return { index: INDEX_NAMES[key[0]!] ?? "unknown", shard: shardOf(key), key: Buffer.from(key).toString("latin1") };
}

function shardOf(key: Uint8Array): ShardId | undefined {
  if (key[0] !== RowKind.Order) return lastU64(key) as ShardId;
  const entry = readEntry(key, levelSizeOf(key));
  return entry.kind === "Shard" ? entry.shard : undefined;
}

function firstKey(entries: SnapshotEntries, range: KeyRange): Buffer | undefined {
  for (const { key } of entries.of(range)) return Buffer.from(key);
  return undefined;
}
