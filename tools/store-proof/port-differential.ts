// The memory store is the contract in executable form. For any write sets, with guards that hold and guards that do not, another
// store must return the same answers and then read the same everywhere. Only this finds a store that goes wrong when a refused
// write comes between two that are committed.
import fc from "fast-check";
import { expect } from "vitest";
import {
  LogicalTime,
  type RunId,
  ShardId,
  type ShardStatus,
  type TenantId,
} from "../../packages/contracts/src/index.ts";
import { fsck } from "../../packages/coordination-fsck/src/index.ts";
import {
  MemoryStore,
  type CapacityHint,
  type GuardedNoteWrite,
  type ShardLimits,
  type WriteSet,
} from "../../packages/coordination/src/index.ts";
import { unwrap } from "../../packages/stdx/src/index.ts";
import { fixedExamples } from "../explore/fixed-examples.ts";
import type { InspectedStore } from "./inspected-store.ts";
import {
  changed,
  derived,
  FOREIGN_GUARD,
  makeRun,
  makeShard,
  PortDriver,
  RUNS,
  TENANTS,
  type PortAnswer,
  type ShardChange,
} from "./port-model.ts";

/** Returns the store's answers; none where there was nothing to ask. */
type Command = (driver: PortDriver, now: LogicalTime) => Promise<readonly PortAnswer[]>;

interface NotedKey {
  readonly key: string;
  readonly value: string | undefined;
}

const encode = (value: string): Uint8Array => new TextEncoder().encode(value);

// Close together, so that now and then both are overdrawn.
const LIMITS: ShardLimits = { maxShardsPerTenant: 8, maxShardsTotal: 10 };
// One place more often than the others, so that commands meet.
const tenant = fc.constantFrom(TENANTS[0]!, ...TENANTS);
const run = fc.constantFrom(RUNS[0]!, RUNS[0]!, ...RUNS);
// How many states ago a guard was read. Mostly none: else hardly anything would be written.
const age = fc.constantFrom(0, 0, 0, 0, 1, 2);
const status = fc.constantFrom<ShardStatus>("Active", "Active", "Active", "Done", "Split", "Parked");
const change = fc.record<ShardChange>({
  status,
  deadline: fc.option(fc.constantFrom(5n, 20n, 40n, 60n), { nil: undefined }),
  lastKey: fc.option(fc.constantFrom("c", "k", "k\0", "w"), { nil: undefined }),
  attempts: fc.nat({ max: 3 }),
});
const rootId = fc.constantFrom(0n, 1n, 2n, 3n, 4n);
const letter = fc.constantFrom("", "a", "a\0", "b");

const putRun = fc
  .record({
    tenant,
    run,
    age,
    isNew: fc.boolean(),
    roots: fc.uniqueArray(rootId, { maxLength: 4 }),
    letter,
    noShardsIn: fc.uniqueArray(status, { maxLength: 2 }),
  })
  .map(({ tenant: of, run: id, age: ago, isNew, roots, letter: start, noShardsIn }): Command => {
    return async (driver, now) => {
      const read = await driver.run(of, id, ago);
      const created = roots.map((root) => makeShard(of, id, ShardId.fromRaw(root), `${start}${root % 2n}`));
      const guard = isNew ? undefined : (read?.version ?? FOREIGN_GUARD);
      return driver.commit([
        {
          kind: "PutRun",
          tenant: of,
          run: id,
          guard,
          after: makeRun(of, id, { lastTime: now }),
          created,
          limits: LIMITS,
          noShardsIn,
        },
      ]);
    };
  });

// Of several runs in one call, each with a guard of its own or none.
// Updates in one call write different notes: which of two to the same note counts is not defined.
const noteValue = fc.constantFrom(undefined, "1", "2");
const noteKey = fc.constantFrom("", "\0", "k", "k".repeat(2000), `${"k".repeat(2000)}l`);
const noted = fc.uniqueArray(fc.record({ key: noteKey, value: noteValue }), {
  minLength: 1,
  maxLength: 3,
  selector: ({ key }) => key,
});
const toNote = ({ key, value }: NotedKey, prefix = ""): GuardedNoteWrite => ({
  space: "failure",
  key: encode(`${prefix}${key}`),
  value: value === undefined ? undefined : encode(value),
});

const update = fc.record({
  tenant,
  run,
  root: rootId,
  age,
  runAge: fc.option(age, { nil: undefined }),
  change,
  notes: fc.option(noted, { nil: undefined }),
});
const updates = fc
  .record({
    hint: fc.boolean(),
    changes: fc.uniqueArray(update, {
      minLength: 1,
      maxLength: 5,
      selector: (each) => `${each.tenant} ${each.run} ${each.root}`,
    }),
  })
  .map(({ hint, changes }): Command => {
    return async (driver, now) => {
      const sets: WriteSet[] = [];
      for (const [
        index,
        { tenant: of, run: id, root, age: ago, runAge, change: to, notes: given },
      ] of changes.entries()) {
        const guard = runAge === undefined ? undefined : await driver.run(of, id, runAge);
        // The last alone: a capacity is reported as of the whole batch, or as of the one set. Both are after the write.
        const hintAt = hint && index === changes.length - 1 ? now : undefined;
        const read = await driver.shard(of, id, ShardId.fromRaw(root), ago);
        const before = read?.record ?? makeShard(of, id, ShardId.fromRaw(root), "a");
        const shard = { guard: read?.version ?? FOREIGN_GUARD, before, after: changed(before, to) };
        const notes = given?.map((note) => toNote(note, `${root}`));
        sets.push({ kind: "UpdateShard", tenant: of, run: id, shard, runGuard: guard?.version, hintAt, notes });
      }
      return driver.commit(sets);
    };
  });

const split = fc
  .record({
    tenant,
    run,
    root: rootId,
    shardAge: age,
    runAge: age,
    change,
    children: fc.uniqueArray(fc.constantFrom(1n, 2n, 3n), { minLength: 1, maxLength: 3 }),
  })
  .map(({ tenant: of, run: id, root, shardAge, runAge, change: to, children }): Command => {
    return async (driver) => {
      const read = await driver.shard(of, id, ShardId.fromRaw(root), shardAge);
      const head = await driver.run(of, id, runAge);
      if (read === undefined || head === undefined) return [];
      const created = children.map((child) => makeShard(of, id, derived(child), `c${child}`));
      const shard = { guard: read.version, before: read.record, after: changed(read.record, to) };
      return driver.commit([
        { kind: "SplitShard", tenant: of, run: id, shard, runGuard: head.version, created, limits: LIMITS },
      ]);
    };
  });

const removeRun = fc.record({ tenant, run, age }).map(({ tenant: of, run: id, age: ago }): Command => {
  return async (driver) => {
    const read = await driver.run(of, id, ago);
    return driver.commit([{ kind: "RemoveRun", tenant: of, run: id, guard: read?.version ?? FOREIGN_GUARD }]);
  };
});

const guarded = fc.record({ key: noteKey, value: noteValue, guard: fc.constantFrom(undefined, "absent", "1", "2") });
const writeNotes = fc
  .record({ tenant, run, notes: fc.uniqueArray(guarded, { maxLength: 3, selector: ({ key }) => key }) })
  .map(({ tenant: of, run: id, notes }): Command => {
    const writes = notes.map(({ guard, ...note }) => ({
      ...toNote(note),
      guard: guard === undefined || guard === "absent" ? guard : encode(guard),
    }));
    return async (driver) => driver.commit([{ kind: "WriteNotes", tenant: of, run: id, notes: writes }]);
  });

const starve = fc.record({ tenant, run, until: fc.constantFrom(2n, 30n, 50n) }).map(
  ({ tenant: of, run: id, until }): Command =>
    async (driver) =>
      mark(driver, of, id, until),
);

const command = fc.oneof(
  { weight: 4, arbitrary: putRun },
  { weight: 8, arbitrary: updates },
  { weight: 2, arbitrary: split },
  { weight: 3, arbitrary: writeNotes },
  removeRun,
  starve,
);

export interface PortRuns {
  /** A store with nothing in it. */
  readonly makeStore: () => Promise<{ readonly store: InspectedStore; dispose(): Promise<void> }>;
  readonly runs: number;
  /** Most commands of one run. */
  readonly maxLength: number;
}

/** Expects that a store answers commands as the memory store does, and that both read the same after each. */
export async function expectSamePort({ makeStore, runs, maxLength }: PortRuns): Promise<void> {
  const commandLists = fc.array(command, { minLength: 10, maxLength, size: "max" });
  await fc.assert(
    fc.asyncProperty(commandLists, async (commands) => {
      const temporary = await makeStore();
      try {
        const memory = new PortDriver(new MemoryStore({ slabCapacity: 1 << 20 }));
        const other = new PortDriver(temporary.store);
        for (const driver of [memory, other]) await seed(driver);
        const hints = [await memory.hints(LogicalTime.fromRaw(1n))];
        for (const [index, step] of commands.entries()) {
          const now = LogicalTime.fromRaw(BigInt(index + 2));
          hints.push(await memory.hints(now));
          const expected = await step(memory, now);
          const answers = await step(other, now);
          expect(answers.map(({ outcome }) => outcome)).toEqual(expected.map(({ outcome }) => outcome));
          hints.push(await memory.hints(now));
          for (const { of, hint } of answers) {
            const known = hints.map((each) => each.get(of)!);
            if (hint !== undefined) expectPlausible(hint, known, answers.length);
          }
          expect(await other.everything(now)).toEqual(await memory.everything(now));
        }
        const report = unwrap(await fsck(temporary.store.inspect()));
        const about = [
          "MissingEntry",
          "StrayEntry",
          "WrongCount",
          "WrongCensus",
          "NotFoundByKey",
          "UnreadableRecord",
          "ShardsWithoutRun",
          "NotesWithoutRun",
        ];
        expect(report.findings.filter(({ kind }) => about.includes(kind))).toEqual([]);
      } finally {
        await temporary.dispose();
      }
    }),
    { numRuns: runs },
  );
}

/**
 * Expects a hint that the run had at some time. It may be older than the write, because a store may keep a capacity for a
 * moment. A store may also commit the sets of a batch one by one, and count before it has committed all of them.
 */
function expectPlausible(hint: CapacityHint, known: readonly CapacityHint[], setCount: number): void {
  expect(known.map(({ isStarved }) => isStarved)).toContain(hint.isStarved);
  const { availableCount, earliestDeadline } = hint;
  if (setCount === 1) expect(known).toContainEqual(expect.objectContaining({ availableCount, earliestDeadline }));
  else expect(Math.min(...known.map((each) => Math.abs(each.availableCount - availableCount)))).toBeLessThan(setCount);
}

/** How often memory makes and refuses a write in lists of commands that are the same for every seed, on average. */
export async function sampleAnswers(runs: number): Promise<{ readonly made: number; readonly refused: number }> {
  const answers = { made: 0, refused: 0 };
  for (const [commands] of fixedExamples(runs, fc.array(command, { minLength: 10, maxLength: 30, size: "max" }))) {
    const memory = new PortDriver(new MemoryStore({ slabCapacity: 1 << 20 }));
    await seed(memory);
    for (const [index, step] of commands.entries()) {
      for (const { outcome } of await step(memory, LogicalTime.fromRaw(BigInt(index + 2))))
        answers[outcome.kind === "Committed" ? "made" : "refused"] += 1 / runs;
    }
  }
  return answers;
}

/** One run with shards for a start. The others come and go. */
async function seed(driver: PortDriver): Promise<void> {
  const [of, id] = [TENANTS[0]!, RUNS[0]!];
  const created = [0n, 1n, 2n].map((root) => makeShard(of, id, ShardId.fromRaw(root), `a${root}`));
  await driver.commit([
    {
      kind: "PutRun",
      tenant: of,
      run: id,
      guard: undefined,
      after: makeRun(of, id),
      created,
      limits: LIMITS,
      noShardsIn: [],
    },
  ]);
}

async function mark(driver: PortDriver, tenantId: TenantId, runId: RunId, until: bigint): Promise<[]> {
  unwrap(await driver.store.markStarved(tenantId, runId, LogicalTime.fromRaw(until)));
  return [];
}
