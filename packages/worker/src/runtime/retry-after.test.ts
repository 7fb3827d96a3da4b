// A server that asks for a pause and gets a request at once refuses all clients for longer; a wait that is misread as endless leaves
// an item undone.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RetryAfter, retryAfterOf } from "./retry-after.ts";
import { runWorkers } from "./run-workers.ts";
import type { WorkerEvent } from "./worker-event.ts";
import { numberedSource, RUN, World } from "./world.fixture.ts";

const COUNT = 100;

test("what it was made with is what it asks for, with its message and cause", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (ms) => {
      expect(retryAfterOf(new RetryAfter(ms))).toBe(ms);
    }),
  );
  const cause = new Error("429");
  expect(new RetryAfter(5, "the server is busy", { cause })).toMatchObject({
    name: "RetryAfter",
    retryAfterMs: 5,
    message: "the server is busy",
    cause,
  });
});

test.each([Number.NaN, Infinity, -1, "5", undefined])(
  "%s is no time to wait: it is refused by the class, and ignored on what others throw",
  (ms) => {
    expect(() => new RetryAfter(ms as number)).toThrow(InvariantViolation);
    expect(retryAfterOf(Object.assign(new Error("busy"), { retryAfterMs: ms }))).toBe(0);
  },
);

test.each([undefined, null, "busy", 7, new Error("busy"), {}])("%s asks for nothing", (thrown) => {
  expect(retryAfterOf(thrown)).toBe(0);
});

test("an item that says when it may be tried again is not tried sooner, and not much later; the longest pause bounds it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 3000 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      async (retryAfterMs, isOwnClass, itemConcurrency) => {
        const world = new World();
        const source = numberedSource(COUNT);
        await world.start(source, 1);
        const events: WorkerEvent[] = [];
        const base = {
          coordinator: world.coordinator,
          run: RUN,
          source,
          time: world.time,
          onEvent: (event: WorkerEvent) => void events.push(event),
        };
        const triedMs = new Map<number, number[]>();
        const process = async ({ n }: { n: number }, { attempt }: { attempt: number }) => {
          if (n % 10 !== 0) return;
          triedMs.set(n, [...(triedMs.get(n) ?? []), world.time.nowMs()]);
          await Promise.resolve();
          if (attempt < 3)
            throw isOwnClass ? new RetryAfter(retryAfterMs) : Object.assign(new Error("busy"), { retryAfterMs });
        };

        const summary = await world.time.runUntil(
          runWorkers({ ...base, process, itemConcurrency, dependencyRetry: { baseMs: 20, maxMs: 2000 } }),
        );

        expect(summary).toMatchObject({ items: COUNT, retries: 20, failures: 0, stopped: { kind: "Done" } });
        for (const [first, second, third] of triedMs.values() as MapIterator<[number, number, number]>) {
          for (const pauseMs of [second - first, third - second]) {
            expect(pauseMs).toBeGreaterThanOrEqual(Math.min(2000, retryAfterMs));
            expect(pauseMs).toBeLessThanOrEqual(Math.min(2000, retryAfterMs + 60));
          }
        }
        for (const event of events)
          if (event.kind === "ItemFailed") expect(event.waitMs).toBeGreaterThanOrEqual(Math.min(2000, retryAfterMs));
      },
    ),
    { numRuns: 25 },
  );
});
