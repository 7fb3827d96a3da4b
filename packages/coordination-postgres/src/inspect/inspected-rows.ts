import type { ShardId } from "@gossip/contracts";
import type { ShardRecord } from "@gossip/coordination";
import { codecErrorInWords, decodeDeletedRun, decodeRunRecord, decodeShardRecord } from "@gossip/coordination-codec";
import type { StoredRunRecord, StoredShard } from "@gossip/coordination-fsck";
import { err, ok } from "@gossip/stdx";
import type { Connection } from "../database/database.ts";
import { claimIndexEntryOf, shardIn } from "../claim/claim-index-entry.ts";
import { digestOf, runColumnsIn, runColumnsOf, type RunColumnsRow, type ShardColumnsRow } from "./record-columns.ts";
import { shardIdOf } from "../layout/rows.ts";
import { byteaArray, nameArray } from "../layout/server-array.ts";
import { FIND_LOST_ENTRIES, FIND_LOST_SHARDS, INSPECT_ENTRIES, INSPECT_RUNS, INSPECT_SHARDS } from "../sql/inspect.ts";
import type { Statement } from "../sql/statement.ts";

export type InspectedRunRow = {
  readonly id: string;
  readonly tenant: Buffer;
  readonly run: Buffer;
  readonly shard_count: string;
  readonly record: Buffer;
} & RunColumnsRow;
export type InspectedShardRow = {
  /** Where the server keeps the row. */
  readonly tid: string;
  readonly shard: Buffer;
  readonly record: Buffer;
} & ShardColumnsRow;

type LostRow = { readonly ordinal: number };

const PAGE = 512;
const NOTHING: Buffer = Buffer.alloc(0);

/** A claim index entry as it is stored, or as it should be: `bytes` is the column `place`. */
export interface InspectedEntry {
  readonly shard: ShardId;
  readonly bytes: Buffer;
}

/** The claim index entry that a shard must have. */
export function expectedEntry(record: ShardRecord): InspectedEntry | undefined {
  const bytes = claimIndexEntryOf(record);
  return bytes && { shard: record.shard, bytes };
}

/** A name that is unique among the entries of a run. */
export function nameOfEntry({ bytes }: InspectedEntry): string {
  return `place ${bytes.toString("hex")}`;
}

/** Called with each listed row that is not found when it is looked up by its key, before it is listed. */
export type OnLost<T> = (lost: T) => void;

export async function* listEntries(
  connection: Connection,
  runId: string,
  onLost?: OnLost<InspectedEntry>,
): AsyncGenerator<InspectedEntry> {
  let after = NOTHING;
  for (;;) {
    const rows = await connection.run<{ place: Buffer }>(INSPECT_ENTRIES, [runId, after, PAGE]);
    if (onLost !== undefined && rows.length > 0) {
      const entries = byteaArray(rows.map(({ place }) => place));
      for (const { ordinal } of await connection.run<LostRow>(FIND_LOST_ENTRIES, [runId, entries])) {
        const { place } = rows[ordinal - 1]!;
        onLost({ shard: shardIn(place), bytes: place });
      }
    }
    for (const { place } of rows) yield { shard: shardIn(place), bytes: place };
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = last.place;
  }
}

/** Reads the record, and ignores the columns. */
export function readRunRow({ record }: InspectedRunRow): StoredRunRecord {
  const decoded = decodeRunRecord(record);
  if (decoded.ok) return { kind: "Found", record: decoded.value };
  return decodeDeletedRun(record).ok
    ? { kind: "Deleted" }
    : { kind: "Unreadable", detail: codecErrorInWords(decoded.error) };
}

/** Whether the columns of a run match its record, if that can be read. */
export function isRunRowRight(row: InspectedRunRow, stored: StoredRunRecord): boolean {
  if (stored.kind === "Found") return digestOf(runColumnsIn(row)) === digestOf(runColumnsOf(stored.record));
  return stored.kind !== "Deleted" || row.status === "Deleted";
}

export function storedShardOf({ shard, record }: InspectedShardRow): StoredShard {
  const decoded = decodeShardRecord(record);
  return { shard: shardIdOf(shard), record: decoded.ok ? ok(decoded.value) : err(codecErrorInWords(decoded.error)) };
}

export async function* listRunRows(connection: Connection): AsyncGenerator<InspectedRunRow> {
  let [tenant, run] = [NOTHING, NOTHING];
  for (;;) {
    const rows = await connection.run<InspectedRunRow>(INSPECT_RUNS, [tenant, run, PAGE]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    [tenant, run] = [last.tenant, last.run];
  }
}

export async function* listShardRows(
  connection: Connection,
  runId: string,
  {
    statement = INSPECT_SHARDS,
    onLost,
  }: { readonly statement?: Statement; readonly onLost?: OnLost<InspectedShardRow> } = {},
): AsyncGenerator<InspectedShardRow> {
  let shard = NOTHING;
  for (;;) {
    const rows = await connection.run<InspectedShardRow>(statement, [runId, shard, PAGE]);
    if (onLost !== undefined && rows.length > 0) {
      const keys = [byteaArray(rows.map((row) => row.shard)), nameArray(rows.map(({ tid }) => tid))];
      for (const { ordinal } of await connection.run<LostRow>(FIND_LOST_SHARDS, [runId, ...keys]))
        onLost(rows[ordinal - 1]!);
    }
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    shard = last.shard;
  }
}
