import { RunStatus } from "@gossip/contracts";
import { isLeasedAt, type RunProgress, type RunRecord, type RunRequest, type ShardRecord } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import { sampleShards, sampleTotal, weighSample, type ReadShards } from "@gossip/insight";
import { compareBytes, err, ok, type Result } from "@gossip/stdx";
import type { WorkEstimate } from "@gossip/worker";
import type { CliError } from "../../output/cli-error.ts";
import { sampledFraction } from "../../progress/estimate/sampled-fraction.ts";
import { readSharedEstimate } from "../../progress/estimate/shared-estimate.ts";
import { segmentsOfShard, type StripSegment } from "../../progress/strip.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { decodeTotalsToken, NO_ITEMS, type ItemTotals } from "../results/item-totals.ts";
import { rowOf } from "./read-shards.ts";
import {
  MOST_KEPT,
  NOTHING_SET,
  readOverview,
  type ReadOverviewOptions,
  type RunOverview,
  type StateCounts,
} from "./run-overview.ts";

/** As many shards are all read: that takes a fraction of a second. */
export const MOST_READ = MOST_KEPT;
/** Shards that are read of each generation. */
const MOST_SAMPLED = 1024;
/** Shards that are read at the same time. */
const READ_AT_ONCE = 128;
const MAX_WORKERS = 200;
/** Shards that are read because a worker holds them, or because they are parked. */
const MAX_HELD = 500;
const MAX_PARKED = 100;

export interface OverviewOptions extends Pick<ReadOverviewOptions, "estimate" | "onRecord"> {
  /** Read every shard, however many there are. */
  readonly isExact?: boolean | undefined;
}

/**
 * Read the state of a run for display. The numbers of shards are exact. The items of a run with very many shards are
 * estimated from a sample, so that what is read does not grow with the run.
 */
export async function readShownOverview(
  opened: OpenedStore,
  request: RunRequest,
  { isExact = false, ...options }: OverviewOptions = {},
): Promise<Result<RunOverview, CliError>> {
  const readAll = () => readOverview(opened, request, { ...options, maxRows: Infinity });
  if (isExact) return readAll();
  const progress = await opened.coordinator.getRunProgress(request);
  if (!progress.ok) return err(coordSentence(progress.error));
  if (progress.value.total <= MOST_READ) return readAll();
  const sampled = await readSampledOverview(opened, request, { progress: progress.value, known: options.estimate });
  if (!sampled.ok) return err(coordSentence(sampled.error));
  return sampled.value === undefined ? readAll() : ok(sampled.value);
}

/** Returns `undefined` if the shards of the run cannot be sampled. */
async function readSampledOverview(
  opened: OpenedStore,
  request: RunRequest,
  { progress, known: knownEstimate }: { readonly progress: RunProgress; readonly known: WorkEstimate | undefined },
): Promise<Result<RunOverview | undefined, GetRunError>> {
  const { coordinator, clock } = opened;
  const record = await coordinator.getRun(request);
  if (!record.ok) return record;
  const read = readerOf(opened, request);
  const leafCount = progress.total - progress.split;
  const sampled = await sampleShards({ run: record.value, leafCount, most: MOST_SAMPLED, read });
  if (!sampled.ok) return sampled;
  if (sampled.value === undefined) return ok(undefined);
  const known = await readKnown(opened, request, read);
  if (!known.ok) return known;
  const shared = await readShared(opened, record.value);
  if (!shared.ok) return shared;
  const capacity = await coordinator.getCapacity(request);
  if (!capacity.ok) return capacity;
  const now = await clock.now();
  const states = statesOf(progress);
  const weighed = weighSample({ leaves: sampled.value, known: known.value, counts: states, now });
  const totalOf = (field: keyof ItemTotals) => sampleTotal(weighed, states, (shard) => totalsOf(shard)[field]);
  const items = totalOf("items");
  const estimate = knownEstimate ?? (await readSharedEstimate(opened, request));
  const owners = weighed.map(({ record: shard }) => (isLeasedAt(shard, now) ? shard.lease?.owner : undefined));
  return ok({
    request,
    status: record.value.status,
    rows: [],
    states,
    totals: {
      items: Math.round(items.total),
      failed: Math.round(totalOf("failed").total),
      unreadable: Math.round(totalOf("unreadable").total),
    },
    fraction: sampledFraction(weighed, { items, estimate }),
    earliestDeadline: capacity.value.earliestDeadline,
    holders: new Set(owners.filter((owner) => owner !== undefined)),
    shared: shared.value,
    sample: {
      shardCount: weighed.length,
      itemsError: items.error,
      strip: stripOf({ leaves: sampled.value, known: known.value }, (shard) => rowOf(shard, now)),
    },
  });
}

function readerOf({ coordinator }: OpenedStore, { tenant, run }: RunRequest): ReadShards<GetRunError> {
  return async (shards) => {
    const records: (ShardRecord | undefined)[] = [];
    for (let from = 0; from < shards.length; from += READ_AT_ONCE) {
      const page = shards.slice(from, from + READ_AT_ONCE);
      const reads = await Promise.all(page.map((shard) => coordinator.getShard({ tenant, key: { run, shard } })));
      for (const read of reads) {
        if (!read.ok) return read;
        records.push(read.value);
      }
    }
    return ok(records);
  };
}

/** Shards that registered workers hold, and shards that are parked: a sample of a million hardly has one of them. */
async function readKnown(
  { coordinator }: OpenedStore,
  request: RunRequest,
  read: ReadShards<GetRunError>,
): Promise<Result<readonly ShardRecord[], GetRunError>> {
  const workers = await coordinator.listWorkers({ ...request, limit: MAX_WORKERS });
  if (!workers.ok) return workers;
  const parked = await coordinator.listParkedDetails({ ...request, limit: MAX_PARKED });
  if (!parked.ok) return parked;
  const held = workers.value.items.flatMap(({ shards }) => shards).slice(0, MAX_HELD);
  const records = await read([...new Set([...held, ...parked.value.items.map(({ shard }) => shard)])]);
  return records.ok ? ok(records.value.filter((record) => record !== undefined)) : records;
}

async function readShared({ coordinator }: OpenedStore, record: RunRecord) {
  return RunStatus.isTerminal(record.status) ? ok(NOTHING_SET) : coordinator.getRunSettings(record);
}

function statesOf({ done, active, leased, parked }: RunProgress): StateCounts {
  return { done, leased, waiting: active - leased, parked };
}

function totalsOf({ cursor }: ShardRecord): ItemTotals {
  return decodeTotalsToken(cursor.token) ?? NO_ITEMS;
}

type SampledShards = Pick<Parameters<typeof weighSample>[0], "leaves" | "known">;

/** As of all shards: the initial shards are equally wide, and descendants share the width. */
function stripOf({ leaves, known }: SampledShards, rowOfShard: (record: ShardRecord) => ReturnType<typeof rowOf>) {
  const weights = new Map<bigint, number>();
  for (const { root, weight } of leaves) weights.set(root, (weights.get(root) ?? 0) + weight);
  return [
    ...leaves.map(({ record, root, weight }) => ({ record, width: weight / weights.get(root)! })),
    ...known.filter(({ status }) => status !== "Split").map((record) => ({ record, width: 0 })),
  ]
    .toSorted((a, b) => compareBytes(a.record.spec.keyRangeStart, b.record.spec.keyRangeStart))
    .flatMap(({ record, width }): StripSegment[] => segmentsOfShard(rowOfShard(record), width));
}
