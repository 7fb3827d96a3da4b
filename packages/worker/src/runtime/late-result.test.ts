// A late result stands for a promise in the hottest place of a run. An outcome that is lost stops a shard for good, and one that
// is reported twice counts an item twice.

import { describe, expect, test } from "vitest";
import { LateResult } from "./late-result.ts";
import { runWorkers } from "./run-workers.ts";
import { type NumberedItem, numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

const ignore = (): void => undefined;

describe.each(["before", "after"])("a reader that comes %s the outcome", (order) => {
  function read(settle: (late: LateResult<number>) => void): unknown[] {
    const late = new LateResult<number>();
    const seen: unknown[] = [];
    const follow = (): void =>
      late.follow(
        (result) => seen.push({ result }),
        (cause) => seen.push({ cause }),
      );
    if (order === "before") follow();
    settle(late);
    if (order === "after") follow();
    return seen;
  }

  test("gets the result, synchronously", () => {
    expect(read((late) => late.resolve(1))).toEqual([{ result: 1 }]);
  });

  test("gets the failure", () => {
    expect(read((late) => late.reject("no"))).toEqual([{ cause: "no" }]);
  });

  test("gets only the first outcome", () => {
    const seen = read((late) => {
      late.reject("no");
      late.resolve(1);
      late.reject("again");
    });
    expect(seen).toEqual([{ cause: "no" }]);
  });
});

test("code that awaits it gets the same", async () => {
  const good = new LateResult<number>();
  const bad = new LateResult<number>();
  setImmediate(() => {
    good.resolve(1);
    bad.reject(new Error("no"));
  });
  expect(await good).toBe(1);
  await expect(bad).rejects.toThrow("no");
});

test("a second reader is refused", () => {
  const late = new LateResult<number>();
  late.follow(ignore, ignore);
  expect(() => late.follow(ignore, ignore)).toThrow("a late result has one reader");
});

test("items that return late results are finished in order, and retried", async () => {
  const world = new World();
  const source = numberedSource(50);
  await world.start(source);
  const sink = new TokenSink();
  const begun = new Set<number>();
  const process = ({ n }: NumberedItem): LateResult<number> => {
    const late = new LateResult<number>();
    // Every seventh item fails once. Later items finish before earlier ones.
    const mustFail = n % 7 === 0 && !begun.has(n);
    begun.add(n);
    world.time.startTimer(100 - n, () => (mustFail ? late.reject(new Error("once")) : late.resolve(n)));
    return late;
  };
  const { coordinator, time } = world;
  const work = runWorkers({ coordinator, run: RUN, source, sink, time, process, itemConcurrency: 10 });
  expect(await time.runUntil(work)).toMatchObject({ stopped: { kind: "Done" }, items: 50, retries: 8 });
  expect(await sink.results(coordinator)).toEqual(Array.from({ length: 50 }, (_, n) => n));
});
