import { compareBytes, startsWith } from "@gossip/stdx";
import { indexOf, type OwnershipTable } from "./ownership-table.ts";
import { prefixBytes } from "./scope.ts";

/**
 * A digest of the scopes inside a prefix: equal for two tables with the same inner scopes.
 *
 * A scope does not cover the keys of a scope inside it. If two nodes have different inner scopes, the prefix means
 * two sets of keys, and a move would take keys that a third node owns. Empty if there are none, as always if nested
 * prefixes are refused.
 *
 * 64 bits are enough to detect mistakes. There is no gain in forging a collision.
 */
export function innerScopes(table: OwnershipTable, prefix: Uint8Array): string {
  if (table.nested === "refuse") return "";
  const inner = indexOf(table)
    .scopes.map(prefixBytes)
    .filter((other) => other.length > prefix.length && startsWith(other, prefix))
    .sort(compareBytes);
  if (inner.length === 0) return "";

  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  const mix = (value: number): void => {
    low = Math.imul(low ^ value, 0x01000193);
    high = Math.imul(high ^ value, 0x85ebca6b) ^ (high >>> 15);
  };
  for (const other of inner) {
    // The size first, so that different lists never give the same bytes.
    mix(other.length);
    for (const byte of other) mix(byte);
  }
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}
