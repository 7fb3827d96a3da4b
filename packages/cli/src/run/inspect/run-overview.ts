import { RunStatus, type LogicalTime, type WorkerId } from "@gossip/contracts";
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
import { rowOf, visitShards, type ShardRow } from "./read-shards.ts";
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
  /** All shards. None if there is a `sample`, or if there were too many to keep. */
  readonly rows: readonly ShardRow[];
  readonly states: StateCounts;
  readonly totals: ItemTotals;
  /** From 0 to 1. `undefined` while too little is known about what is left. */
  readonly fraction: number | undefined;
  /** When the first lease expires, unless it is renewed. */
  readonly earliestDeadline: LogicalTime | undefined;
  /** The workers that hold shards. With a `sample`, those that are known. */
  readonly holders: ReadonlySet<WorkerId>;
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

/** Rows of more shards are not kept: those of a million take gigabytes. */
export const MOST_KEPT = 10_000;

export interface ReadOverviewOptions {
  /** What the source says about its items; by default, what is stored with the run. */
  readonly estimate?: WorkEstimate | undefined;
  readonly onRecord?: ((record: ShardRecord) => void) | undefined;
  /** Of a run with more shards no rows are kept, and there is no fraction. */
  readonly maxRows?: number;
}

/** Read the state of a run from all of its shards. Everything but the fraction is exact. */
export async function readOverview(
  opened: OpenedStore,
  request: RunRequest,
  { estimate, onRecord, maxRows = MOST_KEPT }: ReadOverviewOptions = {},
): Promise<Result<RunOverview, CliError>> {
  const record = await opened.coordinator.getRun(request);
  if (!record.ok) return err(coordSentence(record.error));
  const tally = new ShardTally(maxRows);
  const read = await visitShards(opened, request, (shard, now) => {
    tally.add(rowOf(shard, now));
    onRecord?.(shard);
  });
  if (!read.ok) return read;
  const { status } = record.value;
  const shared = RunStatus.isTerminal(status) ? ok(NOTHING_SET) : await opened.coordinator.getRunSettings(request);
  if (!shared.ok) return err(coordSentence(shared.error));
  const { rows, states, totals, earliestDeadline, holders } = tally;
  const left = tally.isCut
    ? undefined
    : estimateWork(shardWorkOf(rows), estimate ?? (await readSharedEstimate(opened, request)));
  const fraction = fractionOf(left);
  return ok({ request, status, rows, states, totals, fraction, earliestDeadline, holders, shared: shared.value });
}

/** Adds up the shards of a run, one at a time. */
class ShardTally {
  readonly states: Record<keyof StateCounts, number> = { done: 0, leased: 0, waiting: 0, parked: 0 };
  readonly holders = new Set<WorkerId>();
  rows: ShardRow[] = [];
  totals: ItemTotals = NO_ITEMS;
  earliestDeadline: LogicalTime | undefined;
  /** Whether there were too many rows to keep. */
  isCut = false;
  readonly #maxRows: number;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  add(row: ShardRow): void {
    this.#keep(row);
    if (row.status === "Split") return;
    this.states[stateOf(row)]++;
    this.totals = addTotals(this.totals, row.totals);
    const { leaseDeadline, leaseOwner } = row;
    if (leaseOwner !== undefined) this.holders.add(leaseOwner);
    if (leaseDeadline !== undefined && (this.earliestDeadline === undefined || leaseDeadline < this.earliestDeadline))
      this.earliestDeadline = leaseDeadline;
  }

  #keep(row: ShardRow): void {
    if (this.rows.length >= this.#maxRows) {
      this.isCut = true;
      this.rows = [];
    }
    if (!this.isCut) this.rows.push(row);
  }
}

function stateOf({ status, isLeased }: ShardRow): keyof StateCounts {
  if (status === "Done") return "done";
  if (status === "Parked") return "parked";
  return isLeased ? "leased" : "waiting";
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
