// A result that is lost or written twice goes unnoticed until the results are counted. So everything that can stop is stopped here, at every
// byte it writes, and in the end the file must hold each result once and in order.

import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assembleWith } from "./assemble-ndjson.ts";
import { Crash, CrashingFiles } from "./crashing-files.fixture.ts";
import { GOOD_LIFE, OUT, RUN, ShardHistory, type Life } from "./shard-history.fixture.ts";

const linesOf = (shards: readonly ShardHistory[]): string =>
  shards
    .flatMap(({ items }) => items)
    .map((item) => `${JSON.stringify({ item })}\n`)
    .join("");

function makeRandom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const tokensOf = (shards: readonly ShardHistory[]) => shards.map(({ token }) => token);

/** Until all is done: a holder that was overtaken before a crash dies of it late, and takes the next one with it. */
async function workToEnd(files: CrashingFiles, shards: readonly ShardHistory[]): Promise<void> {
  for (const shard of shards) while (!shard.isDone) await shard.live(files, GOOD_LIFE, () => 0);
}

async function finish(files: CrashingFiles, shards: readonly ShardHistory[]): Promise<void> {
  await workToEnd(files, shards);
  unwrap(await assembleWith(files, { path: OUT, run: RUN, tokens: tokensOf(shards) }));
  expect(files.content(OUT)).toBe(linesOf(shards));
  // Nothing is left behind.
  expect(files.list()).toEqual([OUT]);
}

const newShards = () => [
  new ShardHistory(1n, [1, 2, 3, 4, 5, 6, 7]),
  new ShardHistory(2n, []),
  new ShardHistory(3n, [8, 9, 10]),
];

async function newFiles(): Promise<CrashingFiles> {
  const files = new CrashingFiles();
  await files.makeFolder("/data");
  return files;
}

describe("results are there once and in order", () => {
  test.each([{ losesPower: false }, { losesPower: true }])(
    "after a crash at any byte of a holder's life ($losesPower)",
    async ({ losesPower }) => {
      const length = await stepsOf(async (files, shards) => shards[0]!.live(files, GOOD_LIFE, () => 0));
      expect(length).toBeGreaterThan(200);
      for (let crashAfter = 0; crashAfter <= length; crashAfter++) {
        const files = await newFiles();
        const shards = newShards();
        const random = makeRandom(crashAfter);
        await shards[0]!.live(files, { ...GOOD_LIFE, crashAfter, losesPower }, random);
        await shards[0]!.live(files, { ...GOOD_LIFE, crashAfter: Math.floor(crashAfter / 2), losesPower }, random);
        await finish(files, shards);
      }
    },
  );

  test.each([{ losesPower: false }, { losesPower: true }])(
    "after a crash at any step of the assembly ($losesPower)",
    async ({ losesPower }) => {
      const length = await stepsOf(async (files, shards) => {
        for (const shard of shards) await shard.live(files, { ...GOOD_LIFE, items: 2 }, () => 0);
        await finish(files, shards);
      });
      for (let crashAfter = 0; crashAfter <= length; crashAfter++) {
        const files = await newFiles();
        const shards = newShards();
        for (const shard of shards) await shard.live(files, { ...GOOD_LIFE, items: 2 }, () => 0);
        for (const shard of shards) await shard.live(files, GOOD_LIFE, () => 0);
        files.crashAfter(crashAfter);
        const tokens = tokensOf(shards);
        void (await assembleWith(files, { path: OUT, run: RUN, tokens }));
        files.recover(losesPower ? makeRandom(crashAfter) : undefined);
        await finish(files, shards);
      }
    },
  );

  const life: fc.Arbitrary<Life> = fc.record({
    every: fc.integer({ min: 1, max: 4 }),
    items: fc.integer({ min: 1, max: 8 }),
    crashAfter: fc.oneof(fc.nat(700), fc.constant(Infinity)),
    losesPower: fc.boolean(),
    isOvertaken: fc.boolean(),
  });

  test("after any number of crashes, losses of power, holders that were overtaken and go on writing, and replaced shards", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(2), life, fc.boolean()), { maxLength: 10 }),
        fc.array(fc.nat(300), { maxLength: 3 }),
        fc.nat(),
        async (lives, assemblies, seed) => {
          const files = await newFiles();
          const shards = newShards();
          const random = makeRandom(seed);
          for (const [index, [which, one, isReplaced]] of lives.entries()) {
            await shards[which]!.live(files, one, random);
            if (isReplaced) shards[which]!.replace((1n << 63n) + BigInt(index));
          }
          await workToEnd(files, shards);
          for (const crashAfter of assemblies) {
            files.crashAfter(crashAfter);
            void (await assembleWith(files, { path: OUT, run: RUN, tokens: tokensOf(shards) }));
            files.recover(random(2) === 0 ? random : undefined);
          }
          await finish(files, shards);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("however many processes assemble at once", async () => {
    const files = await newFiles();
    const shards = newShards();
    for (const shard of shards) await shard.live(files, GOOD_LIFE, () => 0);
    const request = { path: OUT, run: RUN, tokens: tokensOf(shards) };
    const answers = await Promise.all(Array.from({ length: 5 }, () => assembleWith(files, request)));
    expect(answers.every(({ ok }) => ok)).toBe(true);
    await finish(files, shards);
  });
});

/** How many steps something takes where nothing goes wrong. */
async function stepsOf(
  work: (files: CrashingFiles, shards: readonly ShardHistory[]) => Promise<unknown>,
): Promise<number> {
  const files = await newFiles();
  await work(files, newShards());
  return files.steps;
}

test("the file system of these tests does crash", async () => {
  const files = await newFiles();
  files.crashAfter(4);
  const file = await files.create("/data/x");
  await expect(file.write(Buffer.from("abcdef"), 0)).rejects.toThrow(Crash);
  expect(files.content("/data/x")).toBe("abc");
  files.recover(() => 0);
  expect(files.content("/data/x")).toBe(undefined);
});
