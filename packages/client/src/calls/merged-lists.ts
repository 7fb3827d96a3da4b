import type { AnyCoordError } from "@gossip/coordination-errors";
import type { ResponseOf } from "@gossip/protocol";
import { ok, type Result } from "@gossip/stdx";
import type { Caller, CallInput } from "./caller.ts";

/**
 * One page from every node that has a part of a list.
 *
 * Each node returns what it owns and names the others. There is no transaction over nodes: a run that moves meanwhile may
 * be in two pages.
 */
export async function listEverywhere<Name extends "listRuns" | "listTenants">(
  caller: Caller,
  name: Name,
  input: CallInput<Name>,
): Promise<Result<ResponseOf<Name>[], AnyCoordError>> {
  const first = await caller.call(name, input);
  if (!first.ok) return first;
  const pages = [first.value];
  for (const address of first.value.otherOwners ?? []) {
    const page = await caller.call(name, input, address);
    if (!page.ok) return page;
    pages.push(page.value);
  }
  return ok(pages);
}

interface PartialPage<T> {
  readonly items: readonly T[];
  /** Where this node's next page begins. */
  readonly next?: string | undefined;
}

/**
 * Pages of several nodes as one, in the order of their ids.
 *
 * A node that has more may have ids right after its page, so the merged page ends at the first such page's end.
 */
export function mergePages<T>(
  pages: readonly PartialPage<T>[],
  { idOf, limit = Infinity }: { readonly idOf: (item: T) => string; readonly limit?: number | undefined },
): PartialPage<T> {
  if (pages.length === 1) return pages[0]!;
  const ends = pages.flatMap(({ next }) => (next === undefined ? [] : [next])).sort();
  const end = ends[0];
  const byId = new Map<string, T>();
  for (const { items } of pages)
    for (const item of items) if (end === undefined || idOf(item) <= end) byId.set(idOf(item), item);
  const ids = [...byId.keys()].sort();
  const taken = ids.slice(0, limit);
  const next = taken.length < ids.length ? taken.at(-1) : end;
  return { items: taken.map((id) => byId.get(id)!), next };
}
