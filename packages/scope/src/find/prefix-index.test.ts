// The index decides who may write. Were it to miss a prefix, every node would accept the key; were it
// to find the wrong one, two nodes would each believe that the key is theirs. So both searches are
// held to a scan that is too simple to be wrong, over keys made to be related to the prefixes.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { bytes, covers, denseBytes, distinctPrefixes, longBytes, prefixFree } from "../arbitrary.fixture.ts";
import { NO_PREFIX, PrefixIndex } from "./prefix-index.ts";
import { orderPrefixes } from "./prefix-order.ts";
import { buildPrefixTree } from "./prefix-tree.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function build(prefixes: readonly Uint8Array[], isNested: boolean): PrefixIndex {
  return new PrefixIndex(buildPrefixTree(orderPrefixes(prefixes), { isNested }));
}

/** The longest prefix that covers the key, by looking at all of them. */
function scan(prefixes: readonly Uint8Array[], key: Uint8Array): number {
  let longest = NO_PREFIX;
  for (const [position, prefix] of prefixes.entries()) {
    if (covers(prefix, key) && (longest < 0 || prefix.length > prefixes[longest]!.length)) longest = position;
  }
  return longest;
}

/** Keys around the prefixes themselves, and others. */
function keysNear(prefixes: readonly Uint8Array[], others: readonly Uint8Array[]): Uint8Array[] {
  const near = prefixes.flatMap((prefix) => [
    prefix,
    prefix.subarray(0, -1),
    Uint8Array.of(...prefix, 0),
    Uint8Array.of(...prefix.subarray(0, -1), 0x7f),
  ]);
  return [
    ...near,
    ...others,
    ...prefixes.flatMap((prefix) => others.map((other) => Uint8Array.of(...prefix, ...other))),
  ];
}

const keys = fc.array(fc.oneof(denseBytes, longBytes), { maxLength: 6 });

describe("find", () => {
  test("agrees with a scan on every key, for prefixes of which none is inside another", () => {
    fc.assert(
      fc.property(prefixFree, keys, (prefixes, others) => {
        const index = build(prefixes, false);
        for (const key of keysNear(prefixes, others)) expect(index.find(key, key.length)).toBe(scan(prefixes, key));
      }),
    );
  });

  test("reads only the first `size` bytes", () => {
    const index = build([bytes("ab"), bytes("ac")], false);
    expect(index.find(bytes("ab"), 1)).toBe(NO_PREFIX);
    expect(index.find(bytes("abc"), 2)).toBe(0);
  });
});

describe("findLongest", () => {
  test("agrees with a scan on every key, however prefixes are nested", () => {
    fc.assert(
      fc.property(distinctPrefixes, keys, (prefixes, others) => {
        const index = build(prefixes, true);
        for (const key of keysNear(prefixes, others))
          expect(index.findLongest(key, key.length)).toBe(scan(prefixes, key));
      }),
    );
  });

  test("finds each of a long chain of prefixes inside each other", () => {
    const chain = Array.from({ length: 300 }, (_, size) => new Uint8Array(size).fill(7));
    const index = build(chain, true);
    for (const [size, prefix] of chain.entries())
      expect(index.findLongest(Uint8Array.of(...prefix, 8), size + 1)).toBe(size);
  });
});

describe("shapes that are hard on the layout", () => {
  test.each<[string, (index: number) => Uint8Array]>([
    [
      "two bytes far apart at each branch",
      (index) => Uint8Array.from({ length: 13 }, (_, bit) => ((index >> bit) & 1) * 255),
    ],
    ["all 256 bytes at each branch", (index) => Uint8Array.of(index >> 8, index & 255)],
    [
      "random bytes",
      (index) =>
        Uint8Array.from(
          { length: 5 },
          (_, place) => (Math.imul(index + 1, 0x9e3779b1 + place * 0x85ebca6b) >>> 11) & 255,
        ),
    ],
    [
      "a chain",
      (index) =>
        index < 500
          ? Uint8Array.from({ length: index + 1 }, (_, place) => (place === index ? 1 : 0))
          : Uint8Array.of(2, index >> 8, index & 255),
    ],
    ["names", (index) => bytes(`tenant:${index % 97}:run:${index}:`)],
  ])("%s: every prefix is found, by itself and below itself", (_, make) => {
    const all = new Map(
      Array.from({ length: 5_000 }, (__, index) => make(index)).map((prefix) => [String(prefix), prefix]),
    );
    const prefixes = [...all.values()];
    for (const isNested of [false, true]) {
      const index = build(prefixes, isNested);
      const find = (key: Uint8Array): number =>
        isNested ? index.findLongest(key, key.length) : index.find(key, key.length);
      for (const [position, prefix] of prefixes.entries()) {
        if (find(prefix) !== position || find(Uint8Array.of(...prefix, 255)) !== position)
          expect.fail(`prefix ${position} is lost`);
      }
      expect(find(new Uint8Array(0))).toBe(NO_PREFIX);
    }
  });

  test("an empty index covers nothing, and an empty prefix everything", () => {
    for (const isNested of [false, true]) {
      const none = build([], isNested);
      const all = build([new Uint8Array(0)], isNested);
      for (const key of [bytes(""), bytes("a"), Uint8Array.of(255)]) {
        expect([none.find(key, key.length), none.findLongest(key, key.length)]).toEqual([NO_PREFIX, NO_PREFIX]);
        expect([all.find(key, key.length), all.findLongest(key, key.length)]).toEqual([0, 0]);
      }
    }
  });
});
