// A conflict that is not reported is a key with two writers; one that is reported twice or out of
// order is an operator looking in the wrong place. Each rule of the report is stated against the
// plain definition: look at every pair.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { bytes, covers, prefixList } from "../arbitrary.fixture.ts";
import type { OwnershipError } from "../table/ownership-error.ts";
import { listConflicts } from "./prefix-conflicts.ts";
import { PrefixTree } from "./prefix-tree.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function conflictsOf(prefixes: readonly Uint8Array[], options: { readonly allowNested: boolean }): OwnershipError[] {
  return listConflicts(prefixes, new PrefixTree(prefixes), options);
}

/** Every conflict, by looking at every pair. */
function conflictsByDefinition(prefixes: readonly Uint8Array[]): OwnershipError[] {
  const placesOf = new Map<string, number[]>();
  for (const [place, prefix] of prefixes.entries())
    placesOf.set(String(prefix), [...(placesOf.get(String(prefix)) ?? []), place]);
  const firsts = [...placesOf.values()];

  const duplicates = firsts.filter((places) => places.length > 1).sort((a, b) => a[1]! - b[1]!);
  const overlaps = firsts.flatMap(([inner]) => {
    const around = firsts
      .map(([place]) => place!)
      .filter((place) => place !== inner && covers(prefixes[place]!, prefixes[inner!]!));
    const outer = around.sort((a, b) => prefixes[b]!.length - prefixes[a]!.length)[0];
    return outer === undefined ? [] : [{ inner: inner!, outer }];
  });
  overlaps.sort((a, b) => Math.max(a.inner, a.outer) - Math.max(b.inner, b.outer) || a.inner - b.inner);
  return [
    ...duplicates.map((positions): OwnershipError => ({
      kind: "DuplicatePrefix",
      prefix: prefixes[positions[0]!]!,
      positions,
    })),
    ...overlaps.map(({ inner, outer }): OwnershipError => ({
      kind: "OverlappingPrefix",
      inner: prefixes[inner]!,
      outer: prefixes[outer]!,
      innerPosition: inner,
      outerPosition: outer,
    })),
  ];
}

describe("listConflicts", () => {
  test("reports exactly the conflicts that there are, in the stated order", () => {
    fc.assert(
      fc.property(prefixList, (prefixes) => {
        expect(conflictsOf(prefixes, { allowNested: false })).toEqual(conflictsByDefinition(prefixes));
      }),
    );
  });

  test("reports only duplicates where nesting is allowed", () => {
    fc.assert(
      fc.property(prefixList, (prefixes) => {
        const duplicates = conflictsByDefinition(prefixes).filter(({ kind }) => kind === "DuplicatePrefix");
        expect(conflictsOf(prefixes, { allowNested: true })).toEqual(duplicates);
      }),
    );
  });

  test("names the nearest outer prefix, and orders by the later of the two", () => {
    const prefixes = ["abc", "ab", "abd", "a", "x", "x", "x"].map(bytes);
    expect(conflictsOf(prefixes, { allowNested: false })).toEqual([
      { kind: "DuplicatePrefix", prefix: bytes("x"), positions: [4, 5, 6] },
      { kind: "OverlappingPrefix", inner: bytes("abc"), outer: bytes("ab"), innerPosition: 0, outerPosition: 1 },
      { kind: "OverlappingPrefix", inner: bytes("abd"), outer: bytes("ab"), innerPosition: 2, outerPosition: 1 },
      { kind: "OverlappingPrefix", inner: bytes("ab"), outer: bytes("a"), innerPosition: 1, outerPosition: 3 },
    ]);
  });
});
