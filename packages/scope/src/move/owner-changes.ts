import { startsWith } from "@gossip/stdx";
import type { OwnerChange } from "./node-error.ts";
import type { NodeState } from "./node-state.ts";
import { indexOf, type OwnershipTable } from "../table/ownership-table.ts";
import { prefixText, textBytes } from "../text-bytes.ts";
import { prefixBytes } from "../table/scope.ts";

/**
 * The prefixes that a table would give to node `self` or take from it.
 *
 * A prefix without an owner before or after is not listed: dropping a scope gives up the guarantee that
 * only one node writes it. But the owner of a dropped scope is remembered, so dropping it and declaring it
 * again for another node counts as a change.
 */
export function ownerChanges(state: NodeState, table: OwnershipTable, self: string): OwnerChange[] {
  const before = ownersBefore(state);
  const changes = new Map<string, OwnerChange>();
  const compare = (prefix: Uint8Array, from: string | undefined, to: string | undefined): void => {
    if (from === undefined || to === undefined || from === to) return;
    if (from === self || to === self) changes.set(prefixText(prefix), { prefix: prefix.slice(), from, to });
  };

  // If owners differ, they differ at a prefix that one of the two tables declares.
  for (const scope of indexOf(table).scopes) compare(prefixBytes(scope), before(prefixBytes(scope)), scope.writer);
  for (const scope of indexOf(state.snapshot.table).scopes)
    compare(prefixBytes(scope), scope.writer, table.lookup(prefixBytes(scope))?.writer);
  for (const [text, owner] of state.retired) compare(textBytes(text), owner, table.lookup(textBytes(text))?.writer);
  return [...changes.values()];
}

/** Returns the former owner of a prefix: by the table, or else by the longest dropped scope around it. */
function ownersBefore({ snapshot, retired }: NodeState): (prefix: Uint8Array) => string | undefined {
  const dropped = [...retired]
    .map(([text, owner]) => ({ prefix: textBytes(text), owner }))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  return (prefix) =>
    snapshot.table.lookup(prefix)?.writer ?? dropped.find((scope) => startsWith(prefix, scope.prefix))?.owner;
}
