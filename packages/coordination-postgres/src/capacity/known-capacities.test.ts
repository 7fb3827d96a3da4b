// A checkpoint may return a capacity that was read for another. That can go wrong in three ways: it ignores what its own
// process has claimed or released; it is too old with regard to other processes; or it holds for another time, before
// some lease lapsed.

import { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import { CapacityHint } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import type { RunCapacity } from "@gossip/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KNOWN_FOR_MS, KnownCapacities, type Asker } from "./known-capacities.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const RUN_ID = 7;

function askerAt(now: number | undefined, runId = RUN_ID): Asker {
  return {
    guard: { runId, version: 1 },
    set: { tenant, run, hintAt: now === undefined ? undefined : LogicalTime.fromRaw(BigInt(now)) },
  };
}

/** A run at one instant: a deadline for each shard, 0 if it has no holder. */
interface World {
  readonly deadlines: readonly number[];
  readonly starvedUntil: number;
}

function capacityAt({ deadlines, starvedUntil }: World, now: bigint): RunCapacity {
  const ahead = deadlines.filter((deadline) => deadline > now).sort((a, b) => a - b);
  return {
    now: LogicalTime.fromRaw(now),
    availableCount: deadlines.length - ahead.length,
    earliestDeadline: ahead[0] === undefined ? undefined : LogicalTime.fromRaw(BigInt(ahead[0])),
    starvedUntil: starvedUntil === 0 ? undefined : LogicalTime.fromRaw(BigInt(starvedUntil)),
  };
}

function hintAt(world: World, now: number): CapacityHint {
  const { availableCount, earliestDeadline } = capacityAt(world, BigInt(now));
  return { availableCount, earliestDeadline, isStarved: now < world.starvedUntil };
}

const world: fc.Arbitrary<World> = fc.record({
  deadlines: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 4 }),
  starvedUntil: fc.constantFrom(0, 3),
});
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("Ask" as const),
      times: fc.array(fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 6 }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("Answer" as const), hasLookedAtOnce: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("OthersWrite" as const), world }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("BeginOwnWrite" as const), world }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("EndOwnWrite" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("Wait" as const), ms: fc.integer({ min: 1, max: 4 }) }) },
);

test("a hint was true a moment ago, at the requested time, and includes every write of this process", async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.array(step, { maxLength: 40, size: "max" }), async (first, steps) => {
      let nowMs = 0;
      /** Every state that there has been, and when it began. */
      const history = [{ world: first, sinceMs: 0 }];
      /** Answer a statement with what is so now, or was when it came. */
      const reads: ((hasLookedAtOnce: boolean) => void)[] = [];
      const writes: { readonly world: World; readonly end: () => void; readonly ended: Promise<void> }[] = [];
      const asked: Promise<void>[] = [];
      /** The state that the last of our own writes to be answered has made. */
      let ownSince = 0;
      const read = (askers: readonly Asker[]): Promise<readonly RunCapacity[]> =>
        new Promise((settle) => {
          const before = history.at(-1)!;
          reads.push((hasLookedAtOnce) => {
            const seen = hasLookedAtOnce ? before : history.at(-1)!;
            settle(askers.map(({ set }) => capacityAt(seen.world, set.hintAt!)));
          });
        });
      const capacities = new KnownCapacities(read, () => nowMs);
      const change = (next: World) => history.push({ world: next, sinceMs: nowMs });
      const endWrite = async () => {
        const write = writes.shift();
        if (write === undefined) return;
        change(write.world);
        write.end();
        await write.ended;
        ownSince = history.length - 1;
      };

      for (const each of steps) {
        if (each.kind === "Wait") nowMs += each.ms;
        else if (each.kind === "OthersWrite") change(each.world);
        else if (each.kind === "Answer") reads.shift()?.(each.hasLookedAtOnce);
        else if (each.kind === "EndOwnWrite") await endWrite();
        else if (each.kind === "BeginOwnWrite") {
          let end = (): void => undefined;
          const ended = capacities.changing(() => new Promise<void>((settle) => (end = settle)));
          writes.push({ world: each.world, end, ended });
        } else {
          const [from, fromMs] = [ownSince, nowMs - KNOWN_FOR_MS];
          asked.push(
            Promise.resolve(capacities.hintsFor(each.times.map((now) => askerAt(now)))).then((hints) => {
              // A state counts where it had not ended too long ago, and was not before what we had written by then.
              const fair = history.filter(
                (_, index) => index >= from && (history[index + 1]?.sinceMs ?? Infinity) >= fromMs,
              );
              for (const [index, now] of each.times.entries()) {
                if (now === undefined) expect(hints[index]).toBe(undefined);
                else expect(fair.map((state) => hintAt(state.world, now))).toContainEqual(hints[index]);
              }
            }),
          );
        }
        // Let settled promises run as far as they can.
        for (let turn = 0; turn < 8; turn++) await Promise.resolve();
      }
      while (writes.length > 0) await endWrite();
      const all = Promise.all(asked);
      for (let isOver = false; !isOver;) {
        reads.shift()?.(false);
        isOver = await Promise.race([
          all.then(() => true),
          new Promise<false>((settle) => setImmediate(settle, false)),
        ]);
      }
    }),
    { numRuns: 500 },
  );
});

test("a capacity is read once, until it is too old, a lease has lapsed, or a shard has moved", async () => {
  let nowMs = 0;
  let reads = 0;
  const read = async (askers: readonly Asker[]) => {
    reads++;
    return askers.map(({ set }) => capacityAt({ deadlines: [0, 9], starvedUntil: 0 }, set.hintAt!));
  };
  const capacities = new KnownCapacities(read, () => nowMs);
  const ask = async (now: number) => (await capacities.hintsFor([askerAt(now)]))[0];

  expect(await ask(5)).toEqual({ availableCount: 1, earliestDeadline: 9n, isStarved: false });
  nowMs = KNOWN_FOR_MS;
  await ask(8);
  expect(reads).toBe(1);
  // Each of these makes it read again.
  nowMs += 1;
  await ask(8);
  await ask(9);
  await ask(8);
  await capacities.changing(() => Promise.resolve());
  await ask(8);
  expect(reads).toBe(5);
});

test("a hint that cannot be read is zero, and an invariant violation is not hidden that way", async () => {
  const failing = new KnownCapacities(
    () => Promise.reject(new Error("gone")),
    () => 0,
  );
  expect(await failing.hintsFor([askerAt(1), askerAt(undefined)])).toEqual([CapacityHint.ZERO, undefined]);
  const broken = new KnownCapacities(
    () => Promise.reject(new InvariantViolation("wrong")),
    () => 0,
  );
  await expect(broken.hintsFor([askerAt(1)])).rejects.toThrow(InvariantViolation);
});
