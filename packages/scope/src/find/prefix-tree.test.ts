// The index decides who may write. Were it to miss a prefix, every node would accept the key; were it
// to find the wrong one, two nodes would each believe that the key is theirs. So the search is
// held to a scan that is too simple to be wrong, over keys made to be related to the prefixes.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { bytes, covers, denseBytes, distinctPrefixes, longBytes, prefixFree } from "../arbitrary.fixture.ts";
import { NO_PREFIX, PrefixTree } from "./prefix-tree.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

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
        const tree = new PrefixTree(prefixes);
        for (const key of keysNear(prefixes, others)) expect(tree.find(key, key.length)).toBe(scan(prefixes, key));
      }),
    );
  });

  test("reads only the first `size` bytes", () => {
    const tree = new PrefixTree([bytes("ab"), bytes("ac")]);
    expect(tree.find(bytes("ab"), 1)).toBe(NO_PREFIX);
    expect(tree.find(bytes("abc"), 2)).toBe(0);
  });

  test("agrees with a scan on every key, however prefixes are nested", () => {
    fc.assert(
      fc.property(distinctPrefixes, keys, (prefixes, others) => {
        const tree = new PrefixTree(prefixes);
        for (const key of keysNear(prefixes, others)) expect(tree.find(key, key.length)).toBe(scan(prefixes, key));
      }),
    );
  });

  test("finds each of a long chain of prefixes inside each other", () => {
    const chain = Array.from({ length: 300 }, (_, size) => new Uint8Array(size).fill(7));
    const tree = new PrefixTree(chain);
    for (const [size, prefix] of chain.entries()) expect(tree.find(Uint8Array.of(...prefix, 8), size + 1)).toBe(size);
  });
});

describe("shapes that are hard on a tree", () => {
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
    const tree = new PrefixTree(prefixes);
    const find = (key: Uint8Array): number => tree.find(key, key.length);
    for (const [position, prefix] of prefixes.entries()) {
      if (find(prefix) !== position || find(Uint8Array.of(...prefix, 255)) !== position)
        expect.fail(`prefix ${position} is lost`);
    }
    expect(find(new Uint8Array(0))).toBe(NO_PREFIX);
  });

  test("an empty tree covers nothing, and an empty prefix everything", () => {
    const none = new PrefixTree([]);
    const all = new PrefixTree([new Uint8Array(0)]);
    for (const key of [bytes(""), bytes("a"), Uint8Array.of(255)]) {
      expect(none.find(key, key.length)).toBe(NO_PREFIX);
      expect(all.find(key, key.length)).toBe(0);
    }
  });
});
