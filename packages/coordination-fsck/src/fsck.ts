import type { ShardId, TenantId } from "@gossip/contracts";
import type { RunRecord } from "@gossip/coordination";
import { findRunFault, findShardFault } from "@gossip/coordination/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, assertCount, err, InvariantViolation, ok, type Result } from "@gossip/stdx";
import { checkCoverage } from "./check-coverage.ts";
import { IndexCheck } from "./check-indexes.ts";
import { checkLineage } from "./check-lineage.ts";
import { checkStatusCounts, CountCheck } from "./check-counts.ts";
import { checkNotes } from "./check-notes.ts";
import type { RunAddress, FsckFinding } from "./finding.ts";
import type { CountScope, FsckSource, RebuiltIndexes, RunView, StoredShard, StoreView } from "./fsck-source.ts";
import { RunCensus } from "./run-census.ts";
import { nodeOf, type ShardNode } from "./shard-node.ts";
import { StatusCounts } from "./status-counts.ts";

export interface FsckOptions {
  /** Most findings to keep; 1,000 by default. The rest are counted. */
  readonly maxFindings?: number;
}

export interface FsckReport {
  readonly tenantCount: number;
  readonly runCount: number;
  readonly shardCount: number;
  /** Marks of removed runs. */
  readonly deletedRunCount: number;
  readonly findings: readonly FsckFinding[];
  /** How many there are in all. The store is in order if there are none. */
  readonly findingCount: number;
}

const DEFAULT_MAX_FINDINGS = 1000;

/**
 * Walk a store and report what in it contradicts something else: records that cannot be read or break a rule, lineage, coverage,
 * indexes, counts, censuses and notes.
 *
 * Changes nothing and blocks no other user of the store. It holds one run's shards in memory at a time.
 */
export async function fsck(source: FsckSource, options: FsckOptions = {}): Promise<Result<FsckReport, InfraError>> {
  assertSource(source);
  assert(
    typeof options === "object" && options !== null,
    () => `fsck options must be an object, got ${typeof options}`,
  );
  const { maxFindings = DEFAULT_MAX_FINDINGS } = options;
  assertCount(maxFindings, "most findings", { min: 0, max: Number.MAX_SAFE_INTEGER });
  try {
    const view = await source.look();
    try {
      return ok(await walkStore(view, maxFindings));
    } finally {
      await view.close();
    }
  } catch (thrown) {
    if (thrown instanceof InvariantViolation) throw thrown;
    return err(source.explain(thrown));
  }
}

/** Rebuild what can be rebuilt: indexes and counts. Records stay as they are, right or wrong. */
export async function repair(source: FsckSource): Promise<Result<RebuiltIndexes, InfraError>> {
  assertSource(source);
  try {
    return ok(await source.rebuildIndexes());
  } catch (thrown) {
    if (thrown instanceof InvariantViolation) throw thrown;
    return err(source.explain(thrown));
  }
}

function assertSource(source: FsckSource): void {
  const isSource = typeof source === "object" && source !== null && typeof source.look === "function";
  assert(isSource, "what is checked must be an FsckSource, such as store.inspect() gives");
}

async function walkStore(view: StoreView, maxFindings: number): Promise<FsckReport> {
  const walk = new StoreWalk(maxFindings);
  for await (const run of view.runs()) await walk.visit(run);
  for await (const count of view.counts()) walk.counts.see(count);
  return walk.report(view.countScopes);
}

/** What a walk over a store has seen so far. */
class StoreWalk {
  readonly counts = new CountCheck();
  readonly #maxFindings: number;
  readonly #findings: FsckFinding[] = [];
  readonly #tenants = new Set<TenantId>();
  #findingCount = 0;
  #runCount = 0;
  #deletedRunCount = 0;

  constructor(maxFindings: number) {
    this.#maxFindings = maxFindings;
  }

  async visit(view: RunView): Promise<void> {
    const address = { tenant: view.tenant, run: view.run };
    const { record } = view;
    if (record.kind === "Deleted" || record.kind === "Removed") this.#deletedRunCount++;
    else this.#tenants.add(view.tenant);
    if (record.kind === "Removed") return;
    if (record.kind === "Found" || record.kind === "Unreadable") this.#runCount++;
    if (record.kind === "Unreadable")
      this.#add([{ kind: "UnreadableRecord", ...address, shard: undefined, detail: record.detail }]);
    if (record.kind === "Found") this.#addRunFault(address, record.record);
    await this.#visitShards(view, address);
    this.#add(await checkNotes(view, address));
  }

  report(countScopes: ReadonlySet<CountScope>): FsckReport {
    this.#add(this.counts.findings(countScopes));
    return {
      tenantCount: this.#tenants.size,
      runCount: this.#runCount,
      shardCount: this.counts.total,
      deletedRunCount: this.#deletedRunCount,
      findings: this.#findings,
      findingCount: this.#findingCount,
    };
  }

  #addRunFault(address: RunAddress, record: RunRecord): void {
    const detail =
      record.tenant !== address.tenant || record.run !== address.run
        ? "it is stored under another's key"
        : findRunFault(record);
    if (detail !== undefined) this.#add([{ kind: "RecordFault", ...address, shard: undefined, detail }]);
  }

  async #visitShards(view: RunView, address: RunAddress): Promise<void> {
    const nodes = new Map<ShardId, ShardNode>();
    const unreadable = new Set<ShardId>();
    const indexes = await IndexCheck.of(view);
    this.#add(indexes.lost());
    let census = RunCensus.NONE;
    for await (const stored of view.shards()) {
      this.counts.add(address);
      census = RunCensus.sum(census, RunCensus.of([stored.shard]));
      if ((await view.findShard?.(stored.shard)) === false)
        this.#add([{ kind: "NotFoundByKey", ...address, shard: stored.shard, index: undefined }]);
      const fault = findStoredFault(address, stored);
      if (fault !== undefined) this.#add([fault]);
      if (!stored.record.ok || fault?.kind === "UnreadableRecord") {
        unreadable.add(stored.shard);
        continue;
      }
      nodes.set(stored.shard, nodeOf(stored.record.value));
      this.#add(indexes.claim(stored.record.value));
    }
    this.#add(indexes.strays(unreadable));
    if (view.census !== undefined && !RunCensus.isEqual(view.census, census))
      this.#add([{ kind: "WrongCensus", ...address, stored: view.census.count, counted: census.count }]);
    // The status of a shard that cannot be read is unknown.
    if (view.statusCounts !== undefined && unreadable.size === 0)
      this.#add(checkStatusCounts(address, view.statusCounts, StatusCounts.of(nodes.values())));
    if (view.record.kind === "Found") this.#checkTree(address, view.record.record, nodes, unreadable.size === 0);
    else if (nodes.size > 0 && view.record.kind !== "Unreadable")
      this.#add([{ kind: "ShardsWithoutRun", ...address, shardCount: nodes.size }]);
  }

  #checkTree(address: RunAddress, run: RunRecord, nodes: ReadonlyMap<ShardId, ShardNode>, isWhole: boolean): void {
    const before = this.#findingCount;
    this.#add(checkLineage(address, run, nodes, isWhole));
    // If parents and children do not match, it is unknown what the ranges should be.
    if (isWhole && this.#findingCount === before) this.#add(checkCoverage(address, nodes));
  }

  #add(findings: Iterable<FsckFinding>): void {
    for (const finding of findings) {
      if (this.#findingCount++ < this.#maxFindings) this.#findings.push(finding);
    }
  }
}

function findStoredFault(address: RunAddress, { shard, record }: StoredShard): FsckFinding | undefined {
  if (!record.ok) return { kind: "UnreadableRecord", ...address, shard, detail: record.error };
  const { tenant, run, shard: own } = record.value;
  if (tenant !== address.tenant || run !== address.run || own !== shard) {
    return { kind: "UnreadableRecord", ...address, shard, detail: "it is stored under another's key" };
  }
  const detail = findShardFault(record.value);
  return detail === undefined ? undefined : { kind: "RecordFault", ...address, shard, detail };
}
