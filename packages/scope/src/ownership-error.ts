import { assertObject } from "./assert-object.ts";

/**
 * A prefix that is declared more than once.
 *
 * The prefix is in the error because it is the operator's own configuration, which only the operator
 * sees fail. `positions` are all places in the list that declare it.
 */
export interface DuplicatePrefix {
  readonly kind: "DuplicatePrefix";
  readonly prefix: Uint8Array;
  readonly positions: readonly number[];
}

/**
 * A prefix inside another: the outer writer would silently stop seeing the inner keys.
 *
 * `outer` is the longest of the prefixes around `inner`. `{ nested: "longest" }` allows it.
 */
export interface OverlappingPrefix {
  readonly kind: "OverlappingPrefix";
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
  readonly innerPosition: number;
  readonly outerPosition: number;
}

/** Why a list of scopes is no table. */
export type OwnershipError = DuplicatePrefix | OverlappingPrefix;

/**
 * All that is wrong with a list of scopes.
 *
 * First the duplicates, one for each prefix concerned; then the overlaps, one for each inner prefix.
 * Both in the order in which a reader of the list meets them: by the later of the two places (for a
 * duplicate, the second), then by the inner one.
 */
export interface ScopeConflicts {
  readonly kind: "ScopeConflicts";
  readonly conflicts: readonly OwnershipError[];
}

const lossy = new TextDecoder();

/** A conflict in words, for the operator. Positions count from 1; bytes that are not UTF-8 show as U+FFFD. */
export function formatOwnershipError(error: OwnershipError): string {
  assertObject(error, "an ownership error");
  switch (error.kind) {
    case "DuplicatePrefix":
      return `prefix ${quote(error.prefix)} is declared ${error.positions.length} times: scopes ${error.positions.map((position) => position + 1).join(", ")}`;
    case "OverlappingPrefix":
      return `prefix ${quote(error.inner)} (scope ${error.innerPosition + 1}) is inside prefix ${quote(error.outer)} (scope ${error.outerPosition + 1}); nested prefixes are refused unless asked for`;
  }
}

// JSON quoting also escapes line ends and control characters, so that a message stays one line.
function quote(prefix: Uint8Array): string {
  return JSON.stringify(lossy.decode(prefix));
}
