import { MAX_KEY_SIZE } from "@gossip/contracts";
import { keySuccessor } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import type { SourceCase } from "./source-case.ts";
import { EVERYTHING, hex, type SourceWorld } from "./source-world.ts";

const SOME = 12;
const CUTS = 24;

/** What reading a range returns. */
export const readingCases: readonly SourceCase[] = [
  {
    name: "every item is given once and nothing else, in the order of keys",
    async run(world) {
      const { keys } = await world.read();
      world.expectKeys(keys, world.keys);
    },
  },
  {
    name: "keys ascend strictly, within a batch and from batch to batch",
    async run(world) {
      const { keys } = await world.read();
      world.expectKeys(
        keys.filter((key, index) => index > 0 && compareBytes(keys[index - 1]!, key) >= 0),
        [],
      );
    },
  },
  {
    name: "keys have 1 to MAX_KEY_SIZE bytes, and stay as they were given",
    async run(world) {
      const given: Uint8Array[] = [];
      const copies: Uint8Array[] = [];
      for await (const { items } of world.batches()) {
        for (const { key } of items) {
          given.push(key);
          copies.push(key.slice());
        }
      }
      world.expect(given.filter(({ length }) => length < 1 || length > MAX_KEY_SIZE).length).toBe(0);
      world.expectKeys(given, copies);
    },
  },
  {
    name: "problems lie in the range that is read and say what is wrong",
    async run(world) {
      const { problems } = await world.read();
      for (const { key, reason } of problems) {
        world.expect(reason.length > 0 && !reason.includes(hex(key))).toBe(true);
        const elsewhere = await world.read({ range: { start: keySuccessor(key)!, end: EVERYTHING.end } });
        world.expect(elsewhere.problems.filter((other) => compareBytes(other.key, key) <= 0).length).toBe(0);
      }
      const order = problems.map(({ key }) => key);
      world.expectKeys(order, [...order].sort(compareBytes));
    },
  },
  {
    name: "a reading after a problem reports what comes behind it, and not the problem again",
    async run(world) {
      const { problems } = await world.read();
      for (const [index, { key }] of problems.entries()) {
        const rest = await world.read({ after: key });
        world.expectKeys(
          rest.problems.map((problem) => problem.key),
          problems.slice(index + 1).map((problem) => problem.key),
        );
      }
    },
  },
  {
    name: "a range holds its start and not its end",
    async run(world) {
      for (const from of world.places(SOME)) {
        for (const to of world.places(SOME)) {
          if (from >= to) continue;
          const { keys } = await world.read({ range: { start: world.keys[from]!, end: world.keys[to]! } });
          world.expectKeys(keys, world.keys.slice(from, to));
        }
      }
    },
  },
  {
    name: "what is at or below `after` is left out, and nothing above it is",
    async run(world) {
      for (const place of world.places(SOME)) {
        const after = world.keys[place]!;
        world.expectKeys((await world.read({ after })).keys, world.keys.slice(place + 1));
        world.expectKeys(
          (await world.read({ after: keySuccessor(after)! })).keys,
          aboveOnly(world, keySuccessor(after)!),
        );
      }
    },
  },
  {
    name: "`after` and the range are both kept to",
    async run(world) {
      for (let attempt = 0; attempt < CUTS; attempt++) {
        const [low, high, end] = [
          world.random(world.keys.length),
          world.random(world.keys.length),
          world.random(world.keys.length),
        ];
        const range = { start: world.keys[low]!, end: world.keys[end]! };
        if (low >= end) continue;
        const { keys } = await world.read({ range, after: world.keys[high]! });
        world.expectKeys(keys, world.keys.slice(Math.max(low, high + 1), Math.max(end, low, high + 1)));
      }
    },
  },
  {
    name: "any cut of the keyspace gives every item to exactly one part",
    async run(world) {
      for (let attempt = 0; attempt < CUTS; attempt++) {
        const bounds = [EVERYTHING.start, ...world.cutPoints(1 + world.random(6)), EVERYTHING.end];
        const all: Uint8Array[] = [];
        for (const [index, start] of bounds.slice(0, -1).entries()) {
          const { keys } = await world.read({ range: { start, end: bounds[index + 1]! } });
          all.push(...keys);
        }
        world.expectKeys(all, world.keys);
      }
    },
  },
  {
    name: "a reading that was broken off goes on after the last key that was used",
    async run(world) {
      for (const place of world.places(SOME)) {
        const used: Uint8Array[] = [];
        for await (const { items } of world.batches()) {
          for (const { key } of items) if (used.length <= place) used.push(key);
          if (used.length > place) break;
        }
        const { keys } = await world.read({ after: used.at(-1) });
        world.expectKeys([...used, ...keys], world.keys);
      }
    },
  },
  {
    name: "a second reading gives the same, also at the same time as the first",
    async run(world) {
      const [first, second] = await Promise.all([world.read(), world.read()]);
      world.expectKeys(first.keys, world.keys);
      world.expectKeys(second.keys, world.keys);
      world.expectKeys((await world.read()).keys, world.keys);
    },
  },
];

function aboveOnly(world: SourceWorld, after: Uint8Array): readonly Uint8Array[] {
  return world.keys.filter((key) => compareBytes(key, after) > 0);
}
