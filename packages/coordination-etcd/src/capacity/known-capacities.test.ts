// A checkpoint's hint may come from a look that was made for another checkpoint. That can go wrong in three ways: the hint misses
// what this process has claimed, released or marked; it shows what other processes changed long ago; or it is for a time at which
// some lease had not yet expired.

import { LogicalTime } from "@gossip/contracts";
import type { CapacityHint } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KNOWN_FOR_MS, KnownCapacities, type ExpectedLook } from "./known-capacities.ts";
import { hintAt, type RunCapacity } from "./run-capacity.ts";

const at = (time: number): LogicalTime => LogicalTime.fromRaw(BigInt(time));
const span = (from: number, to = from) => ({ from: at(from), to: at(to) });

/** A run as it is at one instant. */
interface World {
  readonly free: number;
  readonly deadlines: readonly number[];
  readonly starvedUntil: number | undefined;
}

/** The result of an exact read. */
function exactHint({ free, deadlines, starvedUntil = 0 }: World, now: bigint): CapacityHint {
  const ahead = deadlines.filter((deadline) => deadline > now);
  const earliestDeadline = ahead.length === 0 ? undefined : at(Math.min(...ahead));
  return { availableCount: free + deadlines.length - ahead.length, earliestDeadline, isStarved: now < starvedUntil };
}

function capacityIn(world: World, askedFor: LogicalTime): RunCapacity {
  const { availableCount, earliestDeadline } = exactHint(world, askedFor);
  return {
    askedFor,
    availableCount,
    earliestDeadline,
    starvedUntil: world.starvedUntil === undefined ? undefined : at(world.starvedUntil),
  };
}

/** A write of this store that is under way. */
interface OwnWrite {
  readonly path: string;
  readonly world: World;
  isMade: boolean;
  end(): Promise<void>;
}

interface PendingLook {
  readonly path: string;
  readonly expected: ExpectedLook | undefined;
  readonly askedFor: LogicalTime;
  seen: World | undefined;
}

/** An etcd with two runs, one store that remembers and others that write. */
class Model {
  readonly #capacities = new KnownCapacities(() => this.#nowMs);
  /** Every state that a run has had, when it began, and whether this store brought it about. */
  readonly #histories = new Map<
    string,
    { readonly world: World; readonly sinceMs: number; readonly isOwn: boolean }[]
  >();
  readonly #looks: PendingLook[] = [];
  readonly #writes: OwnWrite[] = [];
  #nowMs = 0;
  #lastFree = 0;
  answered = 0;

  wait(ms: number): void {
    this.#nowMs += ms;
  }

  /** What a plain checkpoint does when it is sent: it takes what is known, or looks. */
  ask(path: string, from: number, width: number): void {
    const times = span(from, from + width);
    const known = this.#capacities.of(path, times);
    if (known === undefined)
      this.#looks.push({ path, expected: this.#capacities.expect(path), askedFor: times.from, seen: undefined });
    else this.#expectTrue(path, known, times);
  }

  /** etcd comes to a look, some time before the answer does. */
  see(index: number): void {
    const look = this.#looks[index % this.#looks.length];
    if (look !== undefined) look.seen ??= this.#historyOf(look.path).at(-1)!.world;
  }

  answerLook(index: number): void {
    this.see(index);
    const [look] = this.#looks.splice(index % this.#looks.length, 1);
    if (look?.expected !== undefined) this.#capacities.learn(look.expected, capacityIn(look.seen!, look.askedFor));
  }

  writeOfOthers(path: string, world: World): void {
    this.#change(path, world, false);
  }

  beginWrite(path: string, world: World): void {
    let end = (): void => {};
    const done = this.#capacities.changing([path], () => new Promise<void>((resolve) => void (end = resolve)));
    this.#writes.push({ path, world, isMade: false, end: () => (end(), done) });
  }

  /** etcd makes a write, some time before the answer comes. */
  makeWrite(index: number): void {
    const write = this.#writes[index % this.#writes.length];
    if (write === undefined || write.isMade) return;
    write.isMade = true;
    this.#change(write.path, write.world, true);
  }

  async endWrite(index: number, isMade: boolean): Promise<void> {
    if (isMade) this.makeWrite(index);
    const [write] = this.#writes.splice(index % this.#writes.length, 1);
    await write?.end();
  }

  #expectTrue(path: string, known: RunCapacity, times: { readonly from: LogicalTime; readonly to: LogicalTime }): void {
    this.answered++;
    expect(this.#writes.some((write) => write.path === path)).toBe(false);
    const history = this.#historyOf(path);
    const oldest = Math.max(
      0,
      history.findLastIndex(({ isOwn }) => isOwn),
    );
    const told = [times.from, times.to].map((now) => hintAt(known, now));
    const isTrue = history.some(({ world }, index) => {
      const endedMs = history[index + 1]?.sinceMs ?? Infinity;
      return (
        index >= oldest &&
        endedMs >= this.#nowMs - KNOWN_FOR_MS &&
        [times.from, times.to].every((now, which) => isSame(exactHint(world, now), told[which]!))
      );
    });
    assert(isTrue, "a cached capacity was true not long ago, and since the last write of this store");
  }

  #change(path: string, world: World, isOwn: boolean): void {
    // No two states are alike, so that an old one cannot pass for a new one.
    this.#lastFree += 100;
    this.#historyOf(path).push({ world: { ...world, free: this.#lastFree }, sinceMs: this.#nowMs, isOwn });
  }

  #historyOf(path: string) {
    let history = this.#histories.get(path);
    if (history === undefined) {
      history = [{ world: { free: 1, deadlines: [3, 5], starvedUntil: undefined }, sinceMs: 0, isOwn: false }];
      this.#histories.set(path, history);
    }
    return history;
  }
}

function isSame(a: CapacityHint, b: CapacityHint): boolean {
  return (
    a.availableCount === b.availableCount && a.earliestDeadline === b.earliestDeadline && a.isStarved === b.isStarved
  );
}

const path = fc.constantFrom("a", "b");
const index = fc.nat(3);
const time = fc.integer({ min: 1, max: 6 });
const world: fc.Arbitrary<World> = fc.record({
  free: fc.constant(0),
  deadlines: fc.array(time, { maxLength: 3 }),
  starvedUntil: fc.option(time, { nil: undefined }),
});
type Step = (model: Model) => void | Promise<void>;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(path, time, fc.nat(2)).map(
      ([of, from, width]) =>
        (model: Model) =>
          model.ask(of, from, width),
    ),
  },
  { weight: 1, arbitrary: index.map((which) => (model: Model) => model.see(which)) },
  { weight: 3, arbitrary: index.map((which) => (model: Model) => model.answerLook(which)) },
  {
    weight: 1,
    arbitrary: fc.tuple(path, world).map(
      ([of, next]) =>
        (model: Model) =>
          model.writeOfOthers(of, next),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(path, world).map(
      ([of, next]) =>
        (model: Model) =>
          model.beginWrite(of, next),
    ),
  },
  { weight: 1, arbitrary: index.map((which) => (model: Model) => model.makeWrite(which)) },
  {
    weight: 2,
    arbitrary: fc.tuple(index, fc.boolean()).map(
      ([which, isMade]) =>
        (model: Model) =>
          model.endWrite(which, isMade),
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(0.5, 1, 2, 5).map((ms) => (model: Model) => model.wait(ms)) },
);

const ANSWERED_ONCE: readonly Step[] = [
  (model) => model.ask("a", 1, 0),
  (model) => model.answerLook(0),
  (model) => model.ask("a", 1, 0),
];

describe("what is known of runs' capacities", () => {
  test("in any order of events, a hint was true at most five milliseconds ago, and since this store last wrote", async () => {
    const RUNS = 2000;
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
        const model = new Model();
        // Every run answers at least once from what is known, whatever is drawn.
        for (const take of [...ANSWERED_ONCE, ...steps]) await take(model);
        answered += model.answered;
      }),
      { numRuns: RUNS },
    );
    expect(answered).toBeGreaterThanOrEqual(RUNS);
  });

  const capacity: RunCapacity = { askedFor: at(10), availableCount: 2, earliestDeadline: at(20), starvedUntil: at(15) };

  /** One that has looked at a run, and its clock. */
  function makeKnown() {
    const clock = { nowMs: 100 };
    const capacities = new KnownCapacities(() => clock.nowMs);
    const expected = capacities.expect("a")!;
    return { clock, capacities, expected };
  }

  test("it is valid for five milliseconds from when the read was sent, not from when it was answered", () => {
    const { clock, capacities, expected } = makeKnown();
    clock.nowMs += 3;
    capacities.learn(expected, capacity);
    clock.nowMs += 2;
    expect(capacities.of("a", span(10))).toBe(capacity);
    expect(capacities.of("b", span(10))).toBe(undefined);
    clock.nowMs += 0.01;
    expect(capacities.of("a", span(10))).toBe(undefined);
  });

  test("it is not valid before the requested time, nor once a lease has expired", () => {
    const { capacities, expected } = makeKnown();
    capacities.learn(expected, capacity);
    expect(
      [span(9), span(9, 10), span(10), span(10, 19), span(10, 20), span(20), span(30)].map(
        (times) => capacities.of("a", times) === capacity,
      ),
    ).toEqual([false, false, true, true, false, false, false]);
    expect([10, 14, 15, 19].map((now) => hintAt(capacity, at(now)).isStarved)).toEqual([true, true, false, false]);
  });

  test("a look that was sent earlier and answered later does not take the place of a newer one", () => {
    const { clock, capacities, expected } = makeKnown();
    clock.nowMs += 1;
    const later = capacities.expect("a")!;
    capacities.learn(later, capacity);
    capacities.learn(expected, { ...capacity, availableCount: 7 });
    expect(capacities.of("a", span(10))).toBe(capacity);
  });

  test("a write that fails, and mending everything, make it forget as well", async () => {
    const { capacities, expected } = makeKnown();
    capacities.learn(expected, capacity);
    await expect(capacities.changing(["a"], () => Promise.reject(new Error("broken off")))).rejects.toThrow(
      "broken off",
    );
    expect(capacities.of("a", span(10))).toBe(undefined);
    capacities.learn(expected, capacity);
    expect(capacities.of("a", span(10))).toBe(undefined);

    const second = capacities.expect("a")!;
    await capacities.changingAll(async () => undefined);
    capacities.learn(second, capacity);
    expect(capacities.of("a", span(10))).toBe(undefined);
  });

  test("however many runs there are, it does not grow without end", () => {
    const { capacities, expected } = makeKnown();
    capacities.learn(expected, capacity);
    for (let run = 0; run < 1023; run++) capacities.expect(`run ${run}`);
    expect(capacities.of("a", span(10))).toBe(capacity);
    capacities.expect("one more");
    expect(capacities.of("a", span(10))).toBe(undefined);
  });
});
