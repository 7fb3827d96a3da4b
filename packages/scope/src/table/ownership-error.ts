import { assertObject } from "@gossip/stdx/internal";

/**
 * A prefix that is declared more than once.
 *
 * The error contains the prefix because it comes from the operator's own configuration, and only the
 * operator sees this error. `positions` lists every scope that declares it.
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

/** Why a list of scopes cannot become a table. */
export type OwnershipError = DuplicatePrefix | OverlappingPrefix;

/**
 * Every conflict in a list of scopes.
 *
 * Duplicates come first, one for each prefix; then overlaps, one for each inner prefix. Both are sorted
 * by the later position of the two (for a duplicate, the second), then by the inner one.
 */
export interface ScopeConflicts {
  readonly kind: "ScopeConflicts";
  readonly conflicts: readonly OwnershipError[];
}

const lossy = new TextDecoder();

/** How many bytes of a prefix a message shows. A prefix can have 64 KiB. */
const MAX_SHOWN_BYTES = 64;

/**
 * Describes a conflict for the operator. Positions count from 1; bytes that are not UTF-8 show as U+FFFD.
 * Shows at most the first 64 bytes of a prefix.
 */
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
  const shown = JSON.stringify(lossy.decode(prefix.subarray(0, MAX_SHOWN_BYTES)));
  return prefix.length > MAX_SHOWN_BYTES ? `${shown}… (${prefix.length} bytes)` : shown;
}
