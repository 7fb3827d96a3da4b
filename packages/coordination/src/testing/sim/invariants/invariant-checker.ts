import { RunStatus, type LogicalTime, type RunId, type ShardId, type TenantId, type WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { RunRecord } from "../../../records/run-record.ts";
import { isLeasedAt, type ShardRecord } from "../../../records/shard-record.ts";
import type { CoordinationStore, StoreAnswer } from "../../../store/coordination-store.ts";
import type { Page, ShardPosition } from "../../../store/store-reads.ts";
import { ShardFilter } from "../../../views/shard-filter.ts";
import type { MirroredRun, StoreMirror } from "../store-mirror.ts";
import { checkCoverage } from "./check-coverage.ts";
import { checkLedger } from "./check-ledger.ts";
import { checkShardState, checkShardStep, addressOf } from "./check-shard.ts";
import { checkSplit } from "./check-split.ts";
import { equalRuns, equalShards } from "./equal-records.ts";
import type { RunAddress, ShardAddress, Violation } from "./violation.ts";

/** Small and odd, so that pages end in the middle of things. */
const PAGE_SIZE = 7;
const MANY = 1000;

export interface InvariantCheckerOptions {
  /** Read through the store's port alone. */
  readonly store: CoordinationStore;
  readonly mirror: StoreMirror;
  /** How long a worker must wait between claims; 0 where it need not. */
  readonly claimCooldown: bigint;
  readonly report: (violation: Violation) => void;
}

/**
 * Compares the contents of a store with its earlier contents: S1 to S9 and coverage.
 *
 * It only reads and lists. It relies neither on the kernel's decisions nor on the coordinator's reports.
 */
export class InvariantChecker {
  readonly #options: InvariantCheckerOptions;
  readonly #seenShards = new Map<string, ReadonlyMap<ShardId, ShardRecord>>();
  readonly #seenRuns = new Map<string, RunRecord>();
  readonly #lastClaims = new Map<WorkerId, LogicalTime>();

  constructor(options: InvariantCheckerOptions) {
    this.#options = options;
  }

  /** S9: a worker has claimed something, at a time by its coordinator's clock. */
  noteClaim(worker: WorkerId, thisClaim: LogicalTime): void {
    const { claimCooldown: minInterval, report } = this.#options;
    const prevClaim = this.#lastClaims.get(worker);
    this.#lastClaims.set(worker, thisClaim);
    if (prevClaim === undefined || minInterval === 0n || thisClaim >= prevClaim + minInterval) return;
    report({ kind: "CooldownViolation", worker, thisClaim, prevClaim, minInterval });
  }

  /** A worker's coordinator is a new one, and knows of no claim. */
  forgetClaims(worker: WorkerId): void {
    this.#lastClaims.delete(worker);
  }

  /** Look at the runs that were written to. */
  async sweepChanged(now: LogicalTime): Promise<void> {
    for (const mirrored of this.#options.mirror.takeChanged()) await this.#sweepRun(mirrored, now);
  }

  /** Look at everything there is, by every way there is to find it. */
  async sweepAll(now: LogicalTime): Promise<void> {
    const { mirror } = this.#options;
    const expected = new Set([...mirror.runs].map(({ run }) => nameRun(run)));
    for (const run of await this.#listRuns()) {
      if (!expected.delete(nameRun(run))) this.#wrong("listRuns", "a run that was never written is listed");
    }
    if (expected.size > 0) this.#wrong("listRuns", "a run that was written is not listed");
    for (const mirrored of mirror.runs) {
      await this.#sweepRun(mirrored, now);
      await this.#checkIndexes(mirrored, now);
    }
  }

  async #sweepRun(mirrored: MirroredRun, now: LogicalTime): Promise<void> {
    const { tenant, run } = mirrored.run;
    const address = { tenant, run };
    const name = nameRun(mirrored.run);
    const listed = await this.#listShards(address, now);
    const found = new Map(listed.map((record) => [record.shard, record]));
    this.#checkHolders(listed, now);
    this.#checkHistory(address, this.#seenShards.get(name), found);
    for (const record of listed) {
      this.#reportAll([...checkShardState(record), ...checkSplit(record, (shard) => found.get(shard))]);
      const written = mirrored.shards.get(record.shard);
      if (written === undefined || !equalShards(written, record))
        this.#wrong("listShards", "a shard differs from what was written");
    }
    if (found.size < mirrored.shards.size) this.#wrong("listShards", "a shard that was written is missing");
    this.#reportAll(checkCoverage(address, mirrored.registered, listed));
    const { failures } = mirrored;
    this.#reportAll(await checkLedger(this.#options.store, address, { failures, shards: mirrored.shards.values() }));
    this.#seenShards.set(name, found);
    await this.#checkRun(mirrored, name);
  }

  /** S1, on what is listed: a store that keeps a record twice could hold a shard for two. */
  #checkHolders(listed: readonly ShardRecord[], now: LogicalTime): void {
    const holders = new Map<ShardId, WorkerId>();
    for (const record of listed) {
      const { lease } = record;
      // One tick more than a lease lasts, so that two adjacent leases are seen as well.
      if (lease === undefined || lease.deadline < now) continue;
      const other = holders.get(record.shard);
      if (other !== undefined)
        this.#options.report({ kind: "MutualExclusion", ...addressOf(record), workers: [other, lease.owner] });
      holders.set(record.shard, lease.owner);
    }
  }

  #checkHistory(
    address: RunAddress,
    seen: ReadonlyMap<ShardId, ShardRecord> | undefined,
    found: ReadonlyMap<ShardId, ShardRecord>,
  ): void {
    for (const [shard, before] of seen ?? []) {
      const after = found.get(shard);
      const where: ShardAddress = { ...address, shard };
      this.#reportAll(after === undefined ? [{ kind: "ShardVanished", ...where }] : checkShardStep(before, after));
    }
  }

  async #checkRun({ run: written }: MirroredRun, name: string): Promise<void> {
    const { tenant, run } = written;
    const read = unwrap(await this.#options.store.readRun(tenant, run));
    if (read.kind !== "Found") return this.#wrong("readRun", "a run that was written is missing");
    const { record } = read;
    if (!equalRuns(record, written)) this.#wrong("readRun", "a run differs from what was written");
    const before = this.#seenRuns.get(name);
    this.#seenRuns.set(name, record);
    if (before === undefined || before.status === record.status || !RunStatus.isTerminal(before.status)) return;
    this.#options.report({ kind: "RunTerminalIrreversibility", tenant, run, was: before.status, now: record.status });
  }

  /** What claiming and counting read must agree with the shards themselves. */
  async #checkIndexes({ run: { tenant, run }, shards }: MirroredRun, now: LogicalTime): Promise<void> {
    const { store } = this.#options;
    const count = (wanted: (record: ShardRecord) => boolean) => [...shards.values()].filter(wanted).length;
    const progress = unwrap(await store.readProgress({ tenant, run, now }));
    const isSame =
      progress.total === shards.size &&
      progress.active === count(({ status }) => status === "Active") &&
      progress.done === count(({ status }) => status === "Done") &&
      progress.split === count(({ status }) => status === "Split") &&
      progress.parked === count(({ status }) => status === "Parked") &&
      progress.leased === count((record) => isLeasedAt(record, now));
    if (!isSame) this.#wrong("readProgress", "the counts are not those of the shards");

    const listing = unwrap(await store.listClaimCandidates({ tenant, run, now, limit: MANY, spread: 0 }));
    const open = [...shards.values()].filter((record) => record.status === "Active" && !isLeasedAt(record, now));
    const candidates = new Set(listing.candidates.map(({ shard }) => shard));
    if (candidates.size !== open.length || open.some(({ shard }) => !candidates.has(shard))) {
      this.#wrong("listClaimCandidates", "the candidates are not the shards without a lease");
    }
  }

  async #listRuns(): Promise<RunRecord[]> {
    const { store } = this.#options;
    const tenants = await readPages<TenantId, TenantId>((after) => store.listTenants({ after, limit: 1 }));
    const runs = tenants.map((tenant) =>
      readPages<RunRecord, RunId>((after) => store.listRuns({ tenant, after, limit: 2 })),
    );
    return (await Promise.all(runs)).flat();
  }

  #listShards(address: RunAddress, now: LogicalTime): Promise<ShardRecord[]> {
    const { store } = this.#options;
    const query = { ...address, limit: PAGE_SIZE, filter: ShardFilter.ALL, now };
    return readPages<ShardRecord, ShardPosition>((after) => store.listShards({ ...query, after }));
  }

  #reportAll(violations: readonly Violation[]): void {
    for (const violation of violations) this.#options.report(violation);
  }

  #wrong(operation: string, message: string): void {
    this.#options.report({ kind: "WrongAnswer", operation, message });
  }
}

function nameRun({ tenant, run }: RunAddress): string {
  return `${tenant}/${run}`;
}

/** A whole list, page by page. */
async function readPages<Item, Position>(
  readPage: (after: Position | undefined) => StoreAnswer<Page<Item, Position>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let after: Position | undefined;
  do {
    const page = unwrap(await readPage(after));
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}
