// A count that competes with the work would make a run slower to say how slow it is.
import type { Source, WorkEstimate } from "@gossip/worker";
import { expect, test } from "vitest";
import { countAheadOfWork, type CountTime } from "./count-ahead-of-work.ts";

class StepTime implements CountTime {
  #nowMs = 0;
  sleptMs = 0;
  nowMs(): number {
    return this.#nowMs;
  }
  pass(ms: number): void {
    this.#nowMs += ms;
  }
  async sleep(ms: number): Promise<void> {
    this.sleptMs += ms;
    this.#nowMs += ms;
  }
}

/** Steps that take `stepMs` each. */
function steps(time: StepTime, { count, stepMs }: { readonly count: number; readonly stepMs: number }): Source {
  return {
    async *estimate(): AsyncGenerator<WorkEstimate> {
      for (let step = 0; step < count; step++) {
        time.pass(stepMs);
        yield { spans: [] };
      }
    },
  } as unknown as Source;
}

async function countWith(source: (time: StepTime) => Pick<Source, "estimate">, stopAfter = Infinity) {
  const time = new StepTime();
  const stop = new AbortController();
  let estimates = 0;
  await countAheadOfWork({
    source: source(time),
    time,
    signal: stop.signal,
    onEstimate: () => void (++estimates >= stopAfter && stop.abort()),
  });
  return { time, estimates };
}

test("takes at most half of the time at first, then a tenth", async () => {
  const short = await countWith((time) => steps(time, { count: 100, stepMs: 10 }));
  expect(short.estimates).toBe(100);
  expect(short.time.sleptMs).toBeCloseTo(1000);
  const long = await countWith((time) => steps(time, { count: 2000, stepMs: 10 }));
  expect((long.time.nowMs() - long.time.sleptMs) / long.time.nowMs()).toBeLessThan(0.12);
});

test("a step that had to wait for the work is not charged for the wait", async () => {
  const { time } = await countWith((each) => steps(each, { count: 40, stepMs: 2000 }));
  expect(time.sleptMs).toBeLessThanOrEqual(1000);
});

test("ends when told to, and when the source fails or cannot estimate", async () => {
  expect((await countWith((time) => steps(time, { count: 100, stepMs: 10 }), 3)).estimates).toBe(3);
  expect((await countWith(() => ({}))).estimates).toBe(0);
  const failing = await countWith(() => ({
    async *estimate(): AsyncGenerator<WorkEstimate> {
      yield { spans: [] };
      throw new Error("the disk is gone");
    },
  }));
  expect(failing.estimates).toBe(1);
});
