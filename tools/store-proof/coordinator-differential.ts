// Two coordinators are asked the same at the same times, one over memory and one over another store: acquires, checkpoints with
// tokens, splits with metadata, replays, leases that were lost. A rule that the store keeps differently shows as an answer
// or as a byte of what is stored, and nowhere else.
import { expect } from "vitest";
import {
  Cursor,
  OpId,
  ParkReason,
  RunId,
  ShardId,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
} from "../../packages/contracts/src/index.ts";
import { fsck } from "../../packages/coordination-fsck/src/index.ts";
import {
  Coordinator,
  FAILURE_REASONS,
  MemoryStore,
  RANGE_EXHAUSTED,
  type CoordinationStore,
  type FailureInput,
  type Lease,
  type ShardRecord,
} from "../../packages/coordination/src/index.ts";
import { ManualClock } from "../../packages/coordination/src/testing/index.ts";
import { unwrap, type Result } from "../../packages/stdx/src/index.ts";
import type { InspectedStore } from "./inspected-store.ts";
import { readEverything } from "./store-state.ts";

const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(3));
const RUN = RunId.fromRaw(1n);
const ROOTS_PER_LANE = 4;
const WIDTH = 1000;

/** How many workers ask at once, how often, and the seed of what they ask. */
export interface Lanes {
  readonly laneCount: number;
  readonly rounds: number;
  readonly seed: number;
}

export const LANES: readonly Lanes[] = [
  { laneCount: 1, rounds: 300, seed: 1 },
  { laneCount: 5, rounds: 80, seed: 2 },
  { laneCount: 16, rounds: 40, seed: 3 },
];

/** Expect that a store answers and keeps what memory does, and that nothing is wrong with it in the end. */
export async function expectSameAsMemory(store: InspectedStore, lanes: Lanes): Promise<void> {
  const seen = await compareStores(store, lanes);
  // Else it would have compared refusals with refusals.
  expect(seen.get("ok")).toBeGreaterThan(100);
  expect(seen.size).toBeGreaterThan(3);
  expect(unwrap(await fsck(store.inspect())).findings).toEqual([]);
}

type Ask = (coordinator: Coordinator) => Promise<Result<unknown, { readonly kind: string }>>;

/** Numbers that look random and are the same for the same seed. */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b_3c6d) + 0x9e37_79b9) >>> 0;
    return (state >>> 3) % limit;
  };
}

const key = (place: number) => Uint8Array.of(place >> 8, place & 0xff);
const placeOf = (bytes: Uint8Array) => (bytes[0]! << 8) | bytes[1]!;
const spec = (start: number, end: number, note: string) =>
  ShardSpec.withRangeAndMetadata({ start: key(start), end: key(end), metadata: new TextEncoder().encode(note) });

const failureAt = (place: number): FailureInput => ({
  key: key(place),
  attempts: 1 + (place % 4),
  reason: FAILURE_REASONS[place % FAILURE_REASONS.length]!,
  error: `item ${place} failed`,
});

/** A worker with shards of its own, so that what several do at once has one outcome. */
class Lane {
  readonly #below: (limit: number) => number;
  readonly #shards: ShardId[];
  readonly #leases = new Map<ShardId, Lease>();
  #lastAsk: Ask | undefined;
  #opCount: bigint;

  constructor(number: number, seed: number) {
    this.#below = seeded(seed * 97 + number + 1);
    this.#shards = Array.from({ length: ROOTS_PER_LANE }, (_, index) =>
      ShardId.fromRaw(BigInt(number * ROOTS_PER_LANE + index)),
    );
    this.#opCount = BigInt(number + 1) << 32n;
  }

  /** What to ask next, knowing how things stand in memory. */
  async next(memory: Coordinator, now: bigint): Promise<{ readonly shard: ShardId; readonly ask: Ask }> {
    const { shard, record } = await this.#choose(memory);
    // Sometimes repeat the call, as a caller does that lost the answer.
    if (this.#lastAsk !== undefined && this.#below(9) === 0) return { shard, ask: this.#lastAsk };
    const lease = this.#leases.get(shard);
    const isHeld = record.lease !== undefined && now < record.lease.deadline;
    const ask =
      lease === undefined || (!isHeld && this.#below(5) > 0) ? this.#acquire(shard) : this.#withLease(lease, record);
    this.#lastAsk = ask;
    return { shard, ask };
  }

  learn(shard: ShardId, answer: Result<unknown, unknown>): void {
    if (!answer.ok) return;
    const { value } = answer.value as {
      readonly value?: { readonly lease?: Lease; readonly children?: ShardId[]; readonly residual?: ShardId };
    };
    if (value?.lease !== undefined) this.#leases.set(shard, value.lease);
    const made = [...(value?.children ?? []), ...(value?.residual === undefined ? [] : [value.residual])];
    this.#shards.push(...made.filter((id) => !this.#shards.includes(id)));
  }

  /** Mostly a shard that is not finished. */
  async #choose(memory: Coordinator): Promise<{ readonly shard: ShardId; readonly record: ShardRecord }> {
    for (;;) {
      const shard = this.#shards[this.#below(this.#shards.length)]!;
      const record = unwrap(await memory.getShard({ tenant: TENANT, key: { run: RUN, shard } }))!;
      if (record.status === "Active" || this.#below(8) === 0) return { shard, record };
    }
  }

  #op(): OpId {
    return OpId.fromRaw(++this.#opCount);
  }

  #acquire(shard: ShardId): Ask {
    const [worker, opId] = [WorkerId.fromRaw(BigInt(this.#below(3))), this.#op()];
    return (coordinator) => coordinator.acquire({ tenant: TENANT, key: { run: RUN, shard }, worker, opId });
  }

  #withLease(lease: Lease, { spec: own, cursor }: ShardRecord): Ask {
    const base = { tenant: TENANT, lease, opId: this.#op() };
    const [low, high] = [placeOf(own.keyRangeStart), placeOf(own.keyRangeEnd)];
    const at = cursor.lastKey === undefined ? low : placeOf(cursor.lastKey);
    const place = at + this.#below(Math.max(1, (high - at) >> 3));
    const token = this.#below(2) === 0 ? undefined : new Uint8Array(this.#below(900) + 1).fill(place);
    const next = Cursor.fromParts({ lastKey: key(place), token });
    const failures = place % 3 === 0 ? [failureAt(place), failureAt(at)] : undefined;
    const cut = place + 1 + this.#below(Math.max(1, high - place - 1));
    const canCut = cut > place && cut < high;
    switch (this.#below(canCut ? 16 : 13)) {
      case 0:
      case 1:
        return (coordinator) => coordinator.renew(base);
      case 2:
        return (coordinator) => coordinator.release(base);
      case 3:
        return (coordinator) =>
          coordinator.park({
            ...base,
            reason: ParkReason.values[place % ParkReason.values.length]!,
            detail: place % 2 === 0 ? { item: key(place), attempts: 2, error: "broken" } : undefined,
          });
      case 4:
      case 5:
        return (coordinator) =>
          coordinator.unpark({ tenant: TENANT, key: { run: RUN, shard: lease.shard }, opId: base.opId });
      case 6:
        if (place % 4 > 0) return (coordinator) => coordinator.renew(base);
        return (coordinator) =>
          coordinator.complete({ ...base, point: place % 5 === 0 ? RANGE_EXHAUSTED : next, failures });
      case 13:
      case 14: {
        const plan = unwrap(
          SplitResidualPlan.tryNew({
            parentNewSpec: spec(low, cut, `low ${cut}`),
            residualSpec: spec(cut, high, `high ${cut}`),
          }),
        );
        return (coordinator) => coordinator.splitResidual({ ...base, plan });
      }
      case 15: {
        const children = [
          { spec: spec(low, cut, "left"), cursor },
          { spec: spec(cut, high, "right".repeat(cut & 63)), cursor: Cursor.initial() },
        ];
        const plan = unwrap(SplitReplacePlan.tryNew(children));
        return (coordinator) => coordinator.splitReplace({ ...base, plan });
      }
      default:
        return (coordinator) => coordinator.checkpoint({ ...base, cursor: next, renew: place % 2 === 0, failures });
    }
  }
}

/** As plain data. How much is left to claim depends on who of several was first, so that is compared where one asks alone. */
function plain(answers: readonly Result<unknown, unknown>[]): unknown {
  const isAlone = answers.length === 1;
  return JSON.parse(
    JSON.stringify(answers, (name, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : name === "capacity" && !isAlone ? undefined : value,
    ),
  );
}

async function compareStores(
  store: CoordinationStore,
  { laneCount, rounds, seed }: Lanes,
): Promise<Map<string, number>> {
  const clock = new ManualClock(1n);
  const memoryStore = new MemoryStore({ slabCapacity: 1 << 22 });
  const [memory, other] = [memoryStore, store].map((each) => new Coordinator({ store: each, clock })) as [
    Coordinator,
    Coordinator,
  ];
  const seen = new Map<string, number>();
  const askBoth = async (asks: readonly Ask[]) => {
    const [expected, actual] = await Promise.all(
      [memory, other].map((each) => Promise.all(asks.map((ask) => ask(each)))),
    );
    expect(plain(actual!)).toEqual(plain(expected!));
    for (const answer of expected!) {
      const kind = answer.ok ? "ok" : answer.error.kind;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
    return expected!;
  };
  const expectSame = async () =>
    expect(await readEverything(store, clock.now())).toEqual(await readEverything(memoryStore, clock.now()));

  const shards = Array.from({ length: laneCount * ROOTS_PER_LANE }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: spec(index * WIDTH, (index + 1) * WIDTH, `root ${index}`),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 25n, maxShardRetries: 6 };
  await askBoth([
    (each) => each.createRunWithShards({ tenant: TENANT, run: RUN, config, shards, opId: OpId.fromRaw(1n) }),
  ]);
  const lanes = Array.from({ length: laneCount }, (_, number) => new Lane(number, seed));
  const below = seeded(seed);
  for (let round = 1; round <= rounds; round++) {
    clock.advance(BigInt(below(5)));
    const steps = await Promise.all(lanes.map((lane) => lane.next(memory, clock.now())));
    const answers = await askBoth(steps.map(({ ask }) => ask));
    answers.forEach((answer, index) => lanes[index]!.learn(steps[index]!.shard, answer));
    if (round % 20 === 0) await expectSame();
  }
  await askBoth([(each) => each.completeRun({ tenant: TENANT, run: RUN, opId: OpId.fromRaw(2n) })]);
  await askBoth([(each) => each.cancelRun({ tenant: TENANT, run: RUN, opId: OpId.fromRaw(3n) })]);
  await expectSame();
  return seen;
}
