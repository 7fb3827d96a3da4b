import type { LogicalTime, ShardId, WorkerId } from "@gossip/contracts";
import {
  isLeasedAt,
  summarizeShard,
  type RunRequest,
  type ShardFilter,
  type ShardPosition,
  type ShardRecord,
  type ShardSummary,
} from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import type { CliError } from "../../output/cli-error.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { decodeTotalsToken, NO_ITEMS, type ItemTotals } from "../results/item-totals.ts";

const PAGE_SIZE = 500;

/** The part of a shard record that an overview of the run needs. */
export interface ShardRow extends ShardSummary {
  readonly totals: ItemTotals;
  /** Acquisitions since its last progress. */
  readonly attempts: number;
  /** The worker that holds it. */
  readonly leaseOwner: WorkerId | undefined;
}

export interface VisitOptions {
  readonly filter?: ShardFilter | undefined;
  /** Records come without their logs by default. */
  readonly withLog?: boolean;
  /** Ends the visit early, which is not an error. */
  readonly signal?: AbortSignal | undefined;
}

/** Call `visit` with every shard of a run, by range start. */
export async function visitShards(
  opened: OpenedStore,
  { tenant, run }: RunRequest,
  visit: (record: ShardRecord, now: LogicalTime) => void,
  { filter = {}, withLog = false, signal }: VisitOptions = {},
): Promise<Result<void, CliError>> {
  let after: ShardPosition | undefined;
  do {
    const now = await opened.clock.now();
    const page = await opened.coordinator.listShardRecords({ tenant, run, filter, limit: PAGE_SIZE, after, withLog });
    if (!page.ok) return err(coordSentence(page.error));
    for (const record of page.value.items) visit(record, now);
    after = page.value.next;
  } while (after !== undefined && signal?.aborted !== true);
  return ok(undefined);
}

export async function readShardRows(
  opened: OpenedStore,
  request: RunRequest,
  filter?: ShardFilter,
): Promise<Result<ShardRow[], CliError>> {
  const rows: ShardRow[] = [];
  const read = await visitShards(opened, request, (record, now) => void rows.push(rowOf(record, now)), { filter });
  return read.ok ? ok(rows) : read;
}

export function rowOf(record: ShardRecord, now: LogicalTime): ShardRow {
  return {
    ...summarizeShard(record, now),
    totals: decodeTotalsToken(record.cursor.token) ?? NO_ITEMS,
    attempts: record.attempts,
    leaseOwner: isLeasedAt(record, now) ? record.lease?.owner : undefined,
  };
}

/** Maps each shard to the initial shard that it descends from. */
export function rootsOf(rows: readonly ShardRow[]): Map<ShardId, ShardId> {
  const parents = new Map(rows.map(({ shard, parent }) => [shard, parent]));
  const roots = new Map<ShardId, ShardId>();
  for (const { shard } of rows) {
    let root = shard;
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent;
    roots.set(shard, root);
  }
  return roots;
}
