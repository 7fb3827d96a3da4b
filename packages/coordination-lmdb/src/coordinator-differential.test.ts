// Two coordinators are given the same operations at the same times, one over the store in memory and one over a folder: claims,
// checkpoints with tokens, splits with metadata, replays, leases that were lost. Whatever differs, an answer or a byte of what is
// stored, is a rule that the folder does not keep.

import { Cursor, OpId, ParkReason, RunId, ShardId, ShardSpec, SplitReplacePlan, SplitResidualPlan, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, RANGE_EXHAUSTED, type CoordinationStore, type Lease, type ShardRecord } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap, type Result } from "@gossip/stdx";
import { expect, test } from "vitest";
import { dumpStore } from "./dump-store.fixture.ts";
import { Random } from "./random.fixture.ts";
import { makeStore } from "./temporary-store.fixture.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(7));
const LEASE_DURATION = 20n;
const ROOTS_PER_LANE = 3;

const key = (place: number): Uint8Array => Uint8Array.of(place >> 8, place & 0xff);
const placeOf = (bytes: Uint8Array): number => (bytes[0]! << 8) | bytes[1]!;
const specOf = (start: number, end: number, metadata: string) =>
  ShardSpec.withRangeAndMetadata({ start: key(start), end: key(end), metadata: Buffer.from(metadata) });

/** An operation, to be made of a coordinator. */
type Operation = (coordinator: Coordinator) => Promise<Result<unknown, unknown>>;

/** A coordinator over each store, with one clock. Op ids are given, so that both log the same. */
class Pair {
  readonly clock = new ManualClock(1n);
  readonly memory: Coordinator;
  readonly lmdb: Coordinator;
  readonly stores: readonly [CoordinationStore, CoordinationStore];

  constructor(lmdbStore: CoordinationStore) {
    const memoryStore = new MemoryStore({ slabCapacity: 1 << 22 });
    this.stores = [memoryStore, lmdbStore];
    this.memory = new Coordinator({ store: memoryStore, clock: this.clock });
    this.lmdb = new Coordinator({ store: lmdbStore, clock: this.clock });
  }

  /** Make operations of both, those of a round at the same time, and expect the same answers. */
  async round(operations: readonly Operation[]): Promise<readonly Result<unknown, unknown>[]> {
    const [expected, actual] = await Promise.all([this.memory, this.lmdb].map((each) => Promise.all(operations.map((make) => make(each)))));
    // How much is left to claim depends on who was first within the round. One alone is first.
    const comparable = operations.length === 1 ? toComparable : withoutCapacity;
    expect(actual!.map((answer) => comparable(answer))).toEqual(expected!.map((answer) => comparable(answer)));
    return expected!;
  }

  async expectSame(): Promise<void> {
    const [memory, lmdb] = await Promise.all(this.stores.map((store) => dumpStore(store, this.clock.now())));
    expect(lmdb).toEqual(memory);
  }
}

/** One worker's part of the run. It works on shards of its own, so that lanes do not race for one. */
class Lane {
  readonly #random: Random;
  readonly #number: number;
  readonly #run: RunId;
  readonly #pair: Pair;
  readonly leases = new Map<ShardId, Lease[]>();
  #lastOp: bigint;
  #lastMade: Operation | undefined;
  readonly shards: ShardId[];

  constructor(pair: Pair, { run, number, seed }: { readonly run: RunId; readonly number: number; readonly seed: number }) {
    this.#pair = pair;
    this.#run = run;
    this.#number = number;
    this.#random = new Random(seed * 1000 + number);
    this.#lastOp = BigInt(number) << 40n;
    this.shards = Array.from({ length: ROOTS_PER_LANE }, (_, index) => ShardId.fromRaw(BigInt(number * ROOTS_PER_LANE + index)));
  }

  /** The next operation, and what to learn from its answer. */
  async next(): Promise<{ readonly make: Operation; learn(answer: Result<unknown, unknown>): void }> {
    const { shard, record } = await this.#choose();
    // Now and then the last one again, as somebody does who never heard an answer.
    if (this.#lastMade !== undefined && this.#random.chance(8)) return { make: this.#lastMade, learn: () => undefined };
    const held = this.leases.get(shard) ?? [];
    // Mostly the newest lease, sometimes one that was lost long ago.
    const lease = this.#random.chance(6) ? this.#random.from(held) : held.at(-1);
    const isFree = record.lease === undefined || record.lease.deadline <= this.#pair.clock.now();
    const isAcquired = isFree ? !this.#random.chance(4) : this.#random.chance(12);
    const make = lease === undefined || (isAcquired && record.status === "Active") ? this.#acquire(shard) : this.#leased(lease, record);
    this.#lastMade = make;
    return { make, learn: (answer) => this.#learn(shard, answer) };
  }

  /** Some shard; of those that are finished only now and then one. */
  async #choose(): Promise<{ readonly shard: ShardId; readonly record: ShardRecord }> {
    for (;;) {
      const shard = this.#random.from(this.shards);
      const record = await this.#read(shard);
      if (record.status === "Active" || this.#random.chance(6)) return { shard, record };
    }
  }

  #acquire(shard: ShardId): Operation {
    const worker = WorkerId.fromRaw(BigInt(this.#random.below(2) + 1));
    const opId = this.#op();
    return (coordinator) => coordinator.acquire({ tenant: TENANT, key: { run: this.#run, shard }, worker, opId });
  }

  #leased(lease: Lease, record: ShardRecord): Operation {
    const base = { tenant: TENANT, lease, opId: this.#op() };
    const start = placeOf(record.cursor.lastKey ?? record.spec.keyRangeStart);
    const end = placeOf(record.spec.keyRangeEnd);
    const step = start + this.#random.below(Math.max(1, Math.ceil((end - start) / 3)));
    const token = this.#random.chance(2) ? Buffer.alloc(this.#random.below(600) + 1, step) : undefined;
    const cursor = Cursor.fromParts({ lastKey: key(step), token });
    const metadata = `${this.#number} at ${step}`.repeat(this.#random.below(20) + 1);
    const middle = step + 1 + Math.floor((end - step - 1) / 2);
    const checkpoint: Operation = (coordinator) => coordinator.checkpoint({ ...base, cursor, renew: step % 3 === 0 });
    const choices: Operation[] = [checkpoint, checkpoint, checkpoint, checkpoint];
    choices.push(
      (coordinator) => coordinator.renew(base),
      (coordinator) => coordinator.renew(base),
      (coordinator) => coordinator.release(base),
      (coordinator) => coordinator.unpark({ tenant: TENANT, key: { run: this.#run, shard: lease.shard }, opId: base.opId }),
    );
    const ending = ParkReason.values[step % ParkReason.values.length]!;
    if (this.#random.chance(3)) choices.push((coordinator) => coordinator.park({ ...base, reason: ending }));
    if (this.#random.chance(8)) choices.push((coordinator) => coordinator.complete({ ...base, point: step % 2 === 0 ? cursor : RANGE_EXHAUSTED }));
    if (end - step > 3 && this.#random.chance(2)) {
      const low = placeOf(record.spec.keyRangeStart);
      const parts = { parentNewSpec: specOf(low, middle, metadata), residualSpec: specOf(middle, end, `${metadata}!`) };
      const residual = unwrap(SplitResidualPlan.tryNew(parts));
      const children = [
        { spec: specOf(low, middle, metadata), cursor: record.cursor },
        { spec: specOf(middle, end, `${metadata}?`), cursor: Cursor.initial() },
      ];
      const replace = unwrap(SplitReplacePlan.tryNew(this.#random.chance(2) ? children : children.toReversed()));
      choices.push((coordinator) => coordinator.splitResidual({ ...base, plan: residual }));
      choices.push((coordinator) => coordinator.splitReplace({ ...base, plan: replace }));
    }
    return this.#random.from(choices);
  }

  #learn(shard: ShardId, answer: Result<unknown, unknown>): void {
    if (!answer.ok) return;
    const { value } = answer.value as { readonly value?: { lease?: Lease; children?: ShardId[]; residual?: ShardId } };
    if (value?.lease !== undefined) this.leases.set(shard, [...(this.leases.get(shard) ?? []), value.lease]);
    for (const child of [...(value?.children ?? []), ...(value?.residual === undefined ? [] : [value.residual])]) {
      if (!this.shards.includes(child)) this.shards.push(child);
    }
  }

  async #read(shard: ShardId): Promise<ShardRecord> {
    return unwrap(await this.#pair.memory.getShard({ tenant: TENANT, key: { run: this.#run, shard } }))!;
  }

  #op(): OpId {
    return OpId.fromRaw(++this.#lastOp);
  }
}

async function runDifferential(options: { readonly seed: number; readonly lanes: number; readonly rounds: number }): Promise<Map<string, number>> {
  const { seed, lanes: laneCount, rounds } = options;
  const temporary = await makeStore();
  const answers = new Map<string, number>();
  try {
    const pair = new Pair(temporary.store);
    const run = RunId.fromRaw(BigInt(seed));
    const roots = laneCount * ROOTS_PER_LANE;
    const width = Math.floor(0xffff / roots);
    const shards = Array.from({ length: roots }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(index)),
      spec: specOf(index * width, (index + 1) * width, `root ${index}`),
      cursor: Cursor.initial(),
    }));
    const config = { leaseDuration: LEASE_DURATION, maxShardRetries: 12 };
    await pair.round([(each) => each.createRunWithShards({ tenant: TENANT, run, config, shards, opId: OpId.fromRaw(1n) })]);
    const lanes = Array.from({ length: laneCount }, (_, number) => new Lane(pair, { run, number, seed }));
    const random = new Random(seed);
    for (let round = 0; round < rounds; round++) {
      pair.clock.advance(BigInt(random.below(4)));
      const steps = await Promise.all(lanes.map((lane) => lane.next()));
      const given = await pair.round(steps.map(({ make }) => make));
      for (const [index, answer] of given.entries()) {
        steps[index]!.learn(answer);
        const name = answer.ok ? "ok" : (answer.error as { readonly kind: string }).kind;
        answers.set(name, (answers.get(name) ?? 0) + 1);
      }
      if (round % 10 === 0) await pair.expectSame();
    }
    await pair.round([(each) => each.completeRun({ tenant: TENANT, run, opId: OpId.fromRaw(2n) })]);
    await pair.round([(each) => each.cancelRun({ tenant: TENANT, run, opId: OpId.fromRaw(3n) })]);
    await pair.expectSame();
    expect(unwrap(await fsck(temporary.store.inspect())).findings).toEqual([]);
    await pair.round([(each) => each.deleteRun({ tenant: TENANT, run })]);
    await pair.round([(each) => each.createRun({ tenant: TENANT, run, config })]);
    await pair.expectSame();
  } finally {
    await temporary.dispose();
  }
  return answers;
}

// A lane alone compares everything there is. More of them make the folder's commits carry more than one write.
test.each([
  { lanes: 1, rounds: 400, seeds: [1, 2, 3] },
  { lanes: 4, rounds: 120, seeds: [4, 5] },
  { lanes: 16, rounds: 60, seeds: [6, 7] },
])("$lanes at a time, $rounds rounds: every answer and every byte is the same", { timeout: 60_000 }, async ({ lanes, rounds, seeds }) => {
  const seen = new Map<string, number>();
  for (const seed of seeds) {
    for (const [name, count] of await runDifferential({ seed, lanes, rounds })) seen.set(name, (seen.get(name) ?? 0) + count);
  }
  // Else it would have compared refusals with refusals.
  expect(seen.get("ok")).toBeGreaterThan(300);
  expect(seen.size).toBeGreaterThan(5);
});

function withoutCapacity(answer: Result<unknown, unknown>): unknown {
  return comparableWithout(answer, "capacity");
}

function toComparable(answer: Result<unknown, unknown>): unknown {
  return comparableWithout(answer, undefined);
}

/** An answer as plain data: what is hidden in an error stays so, and is the same in both. */
function comparableWithout(answer: Result<unknown, unknown>, leftOut: string | undefined): unknown {
  const replace = (name: string, value: unknown) => {
    if (name === leftOut) return undefined;
    return typeof value === "bigint" ? `${value}n` : value;
  };
  return JSON.parse(JSON.stringify(answer, replace));
}
