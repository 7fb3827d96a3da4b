// An answer that is matched with the wrong item gives that item a result that is not its own, for good.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PipeJob } from "./pipe-job.ts";
import { SentJobs } from "./sent-jobs.ts";

const { signal } = new AbortController();
const newJob = (): PipeJob => new PipeJob({ item: {}, fields: "", signal });

/** `Send` some, take out the nth of those that are there, or ask for an id that was never given or is answered. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("Send" as const), count: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ kind: fc.constant("Take" as const), nth: fc.nat() }),
  fc.record({ kind: fc.constant("TakeOldest" as const), count: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ kind: fc.constant("Guess" as const), id: fc.integer({ min: -5, max: 5000 }) }),
);

test("items are found by their ids, in the order in which they were sent", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const sent = new SentJobs();
      const model = new Map<number, PipeJob>();
      let lastId = 0;
      const take = (id: number | undefined): void => {
        if (id === undefined) return;
        expect(sent.take(id)).toBe(model.get(id));
        model.delete(id);
        expect(sent.take(id)).toBe(undefined);
      };
      for (const action of steps) {
        if (action.kind === "Send")
          for (let count = 0; count < action.count; count++) {
            const job = newJob();
            const id = sent.add(job);
            expect(id).toBeGreaterThan(lastId);
            lastId = id;
            model.set(id, job);
          }
        else if (action.kind === "Take") take([...model.keys()][action.nth % Math.max(1, model.size)]);
        else if (action.kind === "TakeOldest") for (let count = 0; count < action.count; count++) take(sent.oldest?.id);
        else if (!model.has(action.id)) expect(sent.take(action.id)).toBe(undefined);
        expect(sent.size).toBe(model.size);
        expect(sent.oldest).toBe([...model.values()][0]);
      }
      expect(sent.all()).toEqual([...model.values()]);
    }),
  );
});

test("an item that is never answered is found behind a million others", () => {
  const sent = new SentJobs();
  const first = newJob();
  sent.add(first);
  const other = newJob();
  for (let count = 0; count < 1_000_000; count++) if (sent.take(sent.add(other)) !== other) throw new Error("lost");
  expect(sent.oldest).toBe(first);
  expect(sent.take(first.id)).toBe(first);
});

test("an id that is no whole number belongs to no item", () => {
  const sent = new SentJobs();
  sent.add(newJob());
  expect([1.5, -1, 2 ** 32 + 1, 1e300].map((id) => sent.take(id))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
