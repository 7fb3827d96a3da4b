import type { OverlappingPrefix, OwnershipError } from "../table/ownership-error.ts";
import type { PrefixTree } from "./prefix-tree.ts";

/** Everything wrong with the prefixes of a tree, in the order that `ScopeConflicts` states. */
export function listConflicts(
  prefixes: readonly Uint8Array[],
  { repeated, nested, around }: PrefixTree,
  { allowNested }: { readonly allowNested: boolean },
): OwnershipError[] {
  const duplicates = [...repeated.values()]
    .sort((a, b) => a[1]! - b[1]!)
    .map((positions): OwnershipError => ({
      kind: "DuplicatePrefix",
      prefix: prefixes[positions[0]!]!.slice(),
      positions,
    }));
  if (allowNested) return duplicates;

  const overlaps = nested.map((innerPosition): OverlappingPrefix => {
    const outerPosition = around[innerPosition]!;
    const inner = prefixes[innerPosition]!.slice();
    const outer = prefixes[outerPosition]!.slice();
    return { kind: "OverlappingPrefix", inner, outer, innerPosition, outerPosition };
  });
  overlaps.sort((a, b) => laterPosition(a) - laterPosition(b) || a.innerPosition - b.innerPosition);
  return [...duplicates, ...overlaps];
}

function laterPosition({ innerPosition, outerPosition }: OverlappingPrefix): number {
  return Math.max(innerPosition, outerPosition);
}
