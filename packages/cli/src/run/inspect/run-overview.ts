import { RunStatus, type LogicalTime } from "@gossip/contracts";
import type { RunSettings as SharedSettings, RunRecord, RunRequest, ShardRecord } from "@gossip/coordination";
import { decodeConnectorExtra } from "@gossip/frontier";
import { err, ok, type Result } from "@gossip/stdx";
import type { WorkEstimate } from "@gossip/worker";
import type { CliError } from "../../output/cli-error.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import type { StripSegment } from "../../progress/strip.ts";
import { estimateWork } from "../../progress/estimate/estimate-work.ts";
import { fractionOf } from "../../progress/estimate/progress-estimator.ts";
import { readSharedEstimate } from "../../progress/estimate/shared-estimate.ts";
import { shardWorkOf } from "../../progress/estimate/shard-work.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { addTotals, NO_ITEMS, type ItemTotals } from "../results/item-totals.ts";
import { readShardRows, type ShardRow } from "./read-shards.ts";
import { decodeSettings, type RunSettings } from "../start/run-settings.ts";

/** Shards by state. A split shard is not counted, but the shards that it was split into are. */
export interface StateCounts {
  readonly done: number;
  /** Held by a worker. */
  readonly leased: number;
  /** Not held by a worker. */
  readonly waiting: number;
  readonly parked: number;
}

/** The current state of a run. */
export interface RunOverview {
  readonly request: RunRequest;
  readonly status: RunStatus;
  /** All shards, unless there is a `sample`. */
  readonly rows: readonly ShardRow[];
  readonly states: StateCounts;
  readonly totals: ItemTotals;
  /** From 0 to 1. `undefined` while too little is known about what is left. */
  readonly fraction: number | undefined;
  /** When the first lease expires, unless it is renewed. */
  readonly earliestDeadline: LogicalTime | undefined;
  /** What applies to all processes. A run that has ended has nothing set. */
  readonly shared: SharedSettings;
  /** What the items and the fraction are estimated from, if not all shards were read. Then there are no `rows`. */
  readonly sample?: OverviewSample;
}

/** The shards that an estimate comes from. */
export interface OverviewSample {
  readonly shardCount: number;
  /** The standard error of the items. `undefined` if the sample has too few shards to tell. */
  readonly itemsError: number | undefined;
  readonly strip: readonly StripSegment[];
}

export const NOTHING_SET: SharedSettings = {
  paused: false,
  pausedSince: undefined,
  itemsPerSecond: null,
  concurrency: null,
  heldForMs: 0,
};

/** Read the state of a run. Without an estimate, the one that is stored with the run is used. */
export async function readOverview(
  opened: OpenedStore,
  request: RunRequest,
  known?: WorkEstimate,
  onRecord?: (record: ShardRecord) => void,
): Promise<Result<RunOverview, CliError>> {
  const record = await opened.coordinator.getRun(request);
  if (!record.ok) return err(coordSentence(record.error));
  const rows = await readShardRows(opened, request, undefined, onRecord);
  if (!rows.ok) return rows;
  const hasEnded = RunStatus.isTerminal(record.value.status);
  const shared = hasEnded ? ok(NOTHING_SET) : await opened.coordinator.getRunSettings(request);
  if (!shared.ok) return err(coordSentence(shared.error));
  const estimate = known ?? (await readSharedEstimate(opened, request));
  return ok(overviewOf({ request, record: record.value, rows: rows.value, estimate, shared: shared.value }));
}

interface Read {
  readonly request: RunRequest;
  readonly record: RunRecord;
  readonly rows: readonly ShardRow[];
  readonly estimate: WorkEstimate;
  readonly shared: SharedSettings;
}

function overviewOf({ request, record: { status }, rows, estimate, shared }: Read): RunOverview {
  const leaves = rows.filter((row) => row.status !== "Split");
  const count = (test: (row: ShardRow) => boolean): number => leaves.reduce((sum, row) => sum + (test(row) ? 1 : 0), 0);
  const deadlines = leaves.map(({ leaseDeadline }) => leaseDeadline).filter((deadline) => deadline !== undefined);
  return {
    request,
    status,
    rows,
    states: {
      done: count((row) => row.status === "Done"),
      leased: count((row) => row.isLeased),
      waiting: count((row) => row.status === "Active" && !row.isLeased),
      parked: count((row) => row.status === "Parked"),
    },
    totals: leaves.reduce<ItemTotals>((sum, row) => addTotals(sum, row.totals), NO_ITEMS),
    fraction: fractionOf(estimateWork(shardWorkOf(rows), estimate)),
    earliestDeadline: deadlines.reduce<LogicalTime | undefined>(
      (least, deadline) => (least === undefined || deadline < least ? deadline : least),
      undefined,
    ),
    shared,
  };
}

/** The settings of a run, if this program created it. */
export async function readSettings(
  opened: OpenedStore,
  record: RunRecord,
): Promise<Result<(RunSettings & { readonly fingerprint: string }) | undefined, CliError>> {
  const [first] = record.rootShards;
  if (first === undefined) return ok(undefined);
  const { tenant, run } = record;
  const shard = await opened.coordinator.getShard({ tenant, key: { run, shard: first } });
  if (!shard.ok) return err(coordSentence(shard.error));
  const extra = shard.value === undefined ? undefined : decodeConnectorExtra(shard.value.spec);
  return ok(extra?.ok === true ? decodeSettings(extra.value) : undefined);
}
