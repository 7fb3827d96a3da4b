// The queue stands between every write and its store. An answer given to the wrong caller, or two writes of one shard
// in a call that may hold one, would break every guarantee that is checked elsewhere.

import { RunId, ShardId, TenantId } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CommitAnswer } from "../store/commit-answer.ts";
import type { CoordinationStore, Eventually, StoreTraits } from "../store/coordination-store.ts";
import type { WriteSet } from "../store/write-set.ts";
import { CommitQueue } from "./commit-queue.ts";

/** As much of a write set as the queue looks at. `tag` tells them apart. */
interface Tagged {
  readonly kind: WriteSet["kind"];
  readonly shard: number;
  readonly run: number;
  readonly tag: number;
}

const asSet = ({ kind, shard, run, tag }: Tagged): WriteSet =>
  ({
    kind,
    tag,
    tenant: TenantId.ZERO,
    run: RunId.fromRaw(BigInt(run)),
    shard: { after: { shard: ShardId.fromRaw(BigInt(shard)) } },
  }) as unknown as WriteSet;
const tagOf = (set: WriteSet) => (set as unknown as Tagged).tag;
const answerTo = (set: WriteSet): CommitAnswer => ({ kind: "Committed", version: tagOf(set) });

/** A store whose responses the test controls. */
class HeldStore {
  readonly calls: (readonly WriteSet[])[] = [];
  readonly #answers: (() => void)[] = [];
  inFlight = 0;
  mostInFlight = 0;
  readonly traits: StoreTraits;

  constructor(traits: StoreTraits) {
    this.traits = traits;
  }

  commit(sets: readonly WriteSet[]): Promise<readonly CommitAnswer[]> {
    this.calls.push(sets);
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    return new Promise((resolve) => {
      this.#answers.push(() => {
        this.inFlight--;
        resolve(sets.map(answerTo));
      });
    });
  }

  answerOne(): boolean {
    const answer = this.#answers.shift();
    answer?.();
    return answer !== undefined;
  }
}

const queueOver = (
  commit: (sets: readonly WriteSet[]) => Eventually<readonly CommitAnswer[]>,
  traits: StoreTraits = {},
) => new CommitQueue({ commit, traits } as unknown as CoordinationStore);
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

describe("CommitQueue", () => {
  test("at most one call with notes goes before an update that waits", async () => {
    const store = new HeldStore({});
    const queue = new CommitQueue(store as unknown as CoordinationStore);
    const kinds = [
      "PutRun",
      "WriteNotes",
      "WriteNotes",
      "WriteNotes",
      "UpdateShard",
      "WriteNotes",
      "UpdateShard",
    ] as const;
    const submit = (tag: number): void => void queue.submit(asSet({ kind: kinds[tag]!, shard: tag, run: 0, tag }));
    submit(0);
    await settle();
    for (let tag = 1; tag < 6; tag++) submit(tag);
    store.answerOne();
    await settle();
    submit(6);
    while (store.answerOne()) await settle();
    expect(store.calls.map((sets) => sets.map(tagOf))).toEqual([[0], [1], [4, 6], [2], [3], [5]]);
  });

  test("each caller gets its own answer once, and a broken store fails all of them", async () => {
    const store = new HeldStore({ maxSetsPerCommit: 2 });
    const queue = new CommitQueue(store as unknown as CoordinationStore);
    const sets = [0, 1, 0, 2, 3].map((shard, tag) => asSet({ kind: "UpdateShard", shard, run: 0, tag }));
    const got: unknown[][] = sets.map(() => []);
    const addAll = (to: CommitQueue): void => {
      for (const [index, set] of sets.entries()) {
        const told = (what: unknown): void => void got[index]!.push(what);
        to.add(set, { answered: told, failed: told });
      }
    };
    addAll(queue);
    await settle();
    while (store.answerOne()) await settle();
    expect(got).toEqual(sets.map((set) => [answerTo(set)]));
    expect(store.calls.map((call) => call.map(tagOf))).toEqual([[0, 1], [2, 3], [4]]);
    const broken = new Error("broken");
    addAll(queueOver(() => Promise.reject(broken)));
    await settle();
    expect(got).toEqual(sets.map((set) => [answerTo(set), broken]));
  });

  test("gives each its own answer, and a store only calls that it may get", async () => {
    const tagged = fc.record({
      kind: fc.constantFrom(
        "UpdateShard" as const,
        "UpdateShard" as const,
        "UpdateShard" as const,
        "SplitShard" as const,
        "PutRun" as const,
        "WriteNotes" as const,
      ),
      shard: fc.integer({ min: 0, max: 4 }),
      run: fc.integer({ min: 0, max: 1 }),
    });
    const steps = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: tagged },
        { weight: 1, arbitrary: fc.constant("turn" as const) },
        { weight: 1, arbitrary: fc.constant("answer" as const) },
      ),
      { maxLength: 60 },
    );
    const traits = fc.record({
      maxSetsPerCommit: fc.integer({ min: 1, max: 5 }),
      commitsInFlight: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(steps, traits, async (script, limits) => {
        const store = new HeldStore(limits);
        const queue = new CommitQueue(store as unknown as CoordinationStore);
        const submitted: Tagged[] = [];
        const answers: Promise<CommitAnswer>[] = [];
        for (const step of script) {
          if (step === "turn") await settle();
          else if (step === "answer") store.answerOne();
          else {
            submitted.push({ ...step, tag: submitted.length });
            answers.push(queue.submit(asSet(submitted.at(-1)!)));
          }
        }
        await settle();
        while (store.answerOne()) await settle();

        expect((await Promise.all(answers)).map((answer) => answer.kind === "Committed" && answer.version)).toEqual(
          submitted.map(({ tag }) => tag),
        );
        expect(store.mostInFlight).toBeLessThanOrEqual(limits.commitsInFlight);
        for (const call of store.calls) {
          expect(call.length).toBeLessThanOrEqual(limits.maxSetsPerCommit);
          const sets = call.map((set) => submitted[tagOf(set)]!);
          if (sets.length > 1) expect(sets.every(({ kind }) => kind === "UpdateShard")).toBe(true);
          expect(new Set(sets.map(({ run, shard }) => `${run}/${shard}`)).size).toBe(sets.length);
        }
        // Updates of one shard reach the store in the order in which they were submitted.
        const order = store.calls
          .flat()
          .map((set) => submitted[tagOf(set)]!)
          .filter(({ kind }) => kind === "UpdateShard");
        for (const name of new Set(order.map(({ run, shard }) => `${run}/${shard}`))) {
          const tags = order.filter(({ run, shard }) => `${run}/${shard}` === name).map(({ tag }) => tag);
          expect(tags).toEqual(tags.toSorted((a, b) => a - b));
        }
      }),
    );
  });

  test("what comes in one turn, or while the store is busy, is one call", async () => {
    const store = new HeldStore({});
    const queue = new CommitQueue(store as unknown as CoordinationStore);
    const submit = (shard: number) => queue.submit(asSet({ kind: "UpdateShard", run: 0, shard, tag: shard }));
    const first = [submit(0), submit(1), submit(2)];
    await settle();
    expect(store.calls.map((call) => call.length)).toEqual([3]);
    const second = [submit(3)];
    await settle();
    second.push(submit(4));
    await settle();
    expect(store.calls.length).toBe(1);
    store.answerOne();
    await Promise.all(first);
    await settle();
    expect(store.calls.map((call) => call.length)).toEqual([3, 2]);
    store.answerOne();
    await Promise.all(second);
  });

  test("callers that one answer wakes submit together again", async () => {
    const calls: number[] = [];
    const queue = queueOver((sets) => {
      calls.push(sets.length);
      return Promise.resolve(sets.map(answerTo));
    });
    const work = async (shard: number) => {
      for (let round = 0; round < 3; round++) await queue.submit(asSet({ kind: "UpdateShard", run: 0, shard, tag: 0 }));
    };
    await Promise.all(Array.from({ length: 50 }, (_, shard) => work(shard)));
    expect(calls).toEqual([50, 50, 50]);
  });

  test("callers that are answered go with what came meanwhile", async () => {
    const store = new HeldStore({});
    const queue = new CommitQueue(store as unknown as CoordinationStore);
    const submit = (shard: number) => queue.submit(asSet({ kind: "UpdateShard", run: 0, shard, tag: shard }));
    // As a session's caller does: one async function above the queue.
    const checkpoint = async (shard: number) => await submit(shard);
    const work = async (shard: number) => {
      for (let round = 0; round < 2; round++) await checkpoint(shard);
    };
    const early = [work(0), work(1), work(2)];
    await settle();
    const late = [work(3), work(4)];
    await settle();
    for (let call = 0; call < 3; call++) {
      store.answerOne();
      await settle();
    }
    await Promise.all([...early, ...late]);
    expect(store.calls.map((call) => call.length)).toEqual([3, 5, 2]);
  });

  test("a store that answers at once is asked no more than one that waits", async () => {
    const queue = queueOver((sets) => sets.map(answerTo));
    const answers = await Promise.all(
      [7, 8].map((tag) => queue.submit(asSet({ kind: "UpdateShard", run: 0, shard: tag, tag }))),
    );
    expect(answers).toEqual([
      { kind: "Committed", version: 7 },
      { kind: "Committed", version: 8 },
    ]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new RangeError("broken");
      },
      RangeError,
    ],
    ["rejects", () => Promise.reject(new RangeError("broken")), RangeError],
    ["answers too few", () => [], InvariantViolation],
    ["answers too few, later", () => Promise.resolve([]), InvariantViolation],
  ])("a store that %s fails every caller of that call, and the next goes on", async (_how, broken, error) => {
    let isBroken = true;
    const queue = queueOver((sets) => (isBroken ? broken() : sets.map(answerTo)));
    const submit = (tag: number) => queue.submit(asSet({ kind: "UpdateShard", run: 0, shard: tag, tag }));
    const settled = await Promise.allSettled([submit(1), submit(2)]);
    expect(settled.every((result) => result.status === "rejected" && result.reason instanceof error)).toBe(true);
    isBroken = false;
    expect(await submit(3)).toEqual({ kind: "Committed", version: 3 });
  });
});
