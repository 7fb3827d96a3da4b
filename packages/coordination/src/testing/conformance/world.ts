import {
  Cursor,
  OpId,
  RunId,
  ShardId,
  ShardKey,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  U64_MAX,
  WorkerId,
  type InitialShardInput,
} from "@gossip/contracts";
import type { IdempotentOutcome } from "@gossip/coordination-errors";
import { assert, unwrap, type Result } from "@gossip/stdx";
import type { AcquireResult } from "../../coordinator/acquiring.ts";
import type { CoordinatorOptions } from "../../coordinator/coordinator-options.ts";
import type { CoordinatorApi, WorkerSession } from "../../coordinator/coordinator-api.ts";
import { Coordinator } from "../../coordinator/coordinator.ts";
import type { CompletionPoint } from "../../hashing/payload-hash.ts";
import type { Lease } from "../../records/lease.ts";
import type { RunConfigInput } from "../../records/run-config.ts";
import type { RunRecord } from "../../records/run-record.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { CoordinationStore } from "../../store/coordination-store.ts";
import { ManualClock } from "../manual-clock.ts";
import { StoreProbe } from "../store-probe.ts";
import type { Expect, StoreFixture } from "./test-runner.ts";

export const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(1));
export const OTHER_TENANT = TenantId.fromBytes(new Uint8Array(32).fill(2));
export const RUN = RunId.fromRaw(1n);
export const SHARD = ShardId.fromRaw(10n);
export const KEY = ShardKey.of(RUN, SHARD);
export const LEASE_DURATION = 100n;
const SEEDING_OP = OpId.fromRaw(U64_MAX);

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);
export const op = (raw: number | bigint): OpId => OpId.fromRaw(BigInt(raw));
export const worker = (raw: number): WorkerId => WorkerId.fromRaw(BigInt(raw));
export const at = (key: string, token?: string): Cursor =>
  Cursor.fromParts({ lastKey: text(key), token: token === undefined ? undefined : text(token) });
export const range = (start: string, end: string, metadata = ""): ShardSpec =>
  ShardSpec.withRangeAndMetadata({ start: text(start), end: text(end), metadata: text(metadata) });
export const initial = (
  id: number | bigint,
  start: string,
  end: string,
  cursor = Cursor.initial(),
): InitialShardInput => ({
  shard: ShardId.fromRaw(BigInt(id)),
  spec: range(start, end),
  cursor,
});
export const replaceAt = (
  start: string,
  points: readonly string[],
  end: string,
  cursor = Cursor.initial(),
): SplitReplacePlan => {
  const bounds = [start, ...points, end];
  const children = points.map((point, index) => ({
    spec: range(bounds[index]!, point),
    cursor: index === 0 ? cursor : Cursor.initial(),
  }));
  return unwrap(SplitReplacePlan.tryNew([...children, { spec: range(bounds.at(-2)!, end), cursor: Cursor.initial() }]));
};
export const residualAt = (
  start: string,
  point: string,
  end: string,
  metadata: readonly [string, string] = ["", ""],
): SplitResidualPlan =>
  unwrap(
    SplitResidualPlan.tryNew({
      parentNewSpec: range(start, point, metadata[0]),
      residualSpec: range(point, end, metadata[1]),
    }),
  );

/** Deterministic ids that look random. */
function countOpIds(): () => OpId {
  let last = 1_000_000n;
  return () => OpId.fromRaw((last += 7_919n));
}

/**
 * What a case works with: a fresh store, a clock that it sets, a coordinator over both, and
 * one run with one shard `[a, z)` without a lease.
 */
export class World {
  readonly store: CoordinationStore;
  /** Counts the coordinator's calls of the store. */
  readonly probe: StoreProbe;
  readonly clock = new ManualClock(1n);
  readonly coordinator: CoordinatorApi;
  readonly expect: Expect;
  readonly #fixture: StoreFixture;

  constructor(fixture: StoreFixture, expect: Expect) {
    this.#fixture = fixture;
    this.store = fixture.store;
    this.probe = new StoreProbe(fixture.store);
    this.expect = expect;
    this.coordinator = this.makeCoordinator();
  }

  /** Another coordinator on the same store, like that of another process. */
  makeCoordinator(options: Partial<CoordinatorOptions> = {}): CoordinatorApi {
    const retry = { sleep: () => Promise.resolve() };
    const { shardCopies = 0, connect = (coordinator) => coordinator } = this.#fixture;
    const { probe: store, clock } = this;
    return connect(new Coordinator({ store, clock, newOpId: countOpIds(), retry, shardCopies, ...options }));
  }

  /** Creates a run with shards; by default the one run with its one shard. */
  async seed(
    options: {
      run?: RunId;
      tenant?: TenantId;
      shards?: readonly InitialShardInput[];
      config?: Partial<RunConfigInput>;
    } = {},
  ): Promise<RunRecord> {
    const { run = RUN, tenant = TENANT, shards = [initial(10, "a", "z")], config = {} } = options;
    const created = await this.coordinator.createRunWithShards({
      tenant,
      run,
      config: { leaseDuration: LEASE_DURATION, ...config },
      shards,
      opId: SEEDING_OP,
    });
    return unwrap(created).value;
  }

  async acquire(by: number, options: { key?: ShardKey; opId?: OpId } = {}): Promise<AcquireResult> {
    const { key = KEY, opId } = options;
    const acquired = await this.coordinator.acquire({
      tenant: TENANT,
      key,
      worker: worker(by),
      ...(opId === undefined ? {} : { opId }),
    });
    return unwrap(acquired).value;
  }

  async open(by: number, key: ShardKey = KEY): Promise<WorkerSession> {
    return unwrap(await this.coordinator.openSession({ tenant: TENANT, key, worker: worker(by) }));
  }

  checkpoint(lease: Lease, key: string, opId: number | bigint) {
    return this.coordinator.checkpoint({ tenant: TENANT, lease, cursor: at(key), opId: op(opId) });
  }

  complete(lease: Lease, point: CompletionPoint, opId: number | bigint) {
    return this.coordinator.complete({ tenant: TENANT, lease, point, opId: op(opId) });
  }

  /** The shard's record, which must exist. */
  async shard(key: ShardKey = KEY, tenant: TenantId = TENANT): Promise<ShardRecord> {
    const record = unwrap(await this.coordinator.getShard({ tenant, key }));
    assert(record !== undefined, "the shard must be there");
    return record;
  }

  async run(run: RunId = RUN): Promise<RunRecord> {
    return unwrap(await this.coordinator.getRun({ tenant: TENANT, run }));
  }

  endRun(ending: "completeRun" | "failRun" | "cancelRun", opId: number, run: RunId = RUN) {
    return this.coordinator[ending]({ tenant: TENANT, run, opId: op(opId) });
  }

  /** Expects an error of a kind, with these fields. */
  expectRefusal(result: Result<unknown, { readonly kind: string }>, kind: string, fields: object = {}): void {
    this.expect(result).toMatchObject({ ok: false, error: { kind, ...fields } });
  }

  expectOutcome(
    result: Result<IdempotentOutcome<unknown>, { readonly kind: string }>,
    kind: "Executed" | "Replayed",
  ): void {
    this.expect(result.ok ? result.value.kind : result.error.kind).toBe(kind);
  }

  /** Expects a call to throw an `InvariantViolation`. */
  async expectViolation(call: () => Promise<unknown>): Promise<void> {
    let thrown: unknown;
    try {
      await call();
    } catch (error) {
      thrown = error;
    }
    this.expect(thrown instanceof Error ? thrown.name : thrown).toBe("InvariantViolation");
  }
}
