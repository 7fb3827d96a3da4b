/** How much of something a claimant could use. */
export interface SlotClaim<Id extends bigint> {
  readonly id: Id;
  readonly wanted: number;
}

/**
 * How many of `limit` slots one claimant should have, if all get the same except those that want less.
 *
 * If there are fewer slots than claimants, some get none. `turn` selects which: with every turn it is another one's, so
 * that all make progress.
 */
export function fairSlots<Id extends bigint>(
  claims: readonly SlotClaim<Id>[],
  { id, limit, turn }: { readonly id: Id; readonly limit: number; readonly turn: number },
): number {
  const wanting = claims.filter(({ wanted }) => wanted > 0);
  const own = wanting.find((claim) => claim.id === id);
  if (own === undefined) return 0;
  const { base, rest } = share(wanting, limit);
  if (own.wanted <= base) return own.wanted;
  const more = wanting
    .filter(({ wanted }) => wanted > base)
    .map((claim) => claim.id)
    .toSorted((a, b) => (a < b ? -1 : 1));
  // With at least one slot each there is no need to take turns, and moving slots costs time.
  const from = base === 0 ? turn % more.length : 0;
  const position = (more.indexOf(id) - from + more.length) % more.length;
  return base + (position < rest ? 1 : 0);
}

/** The most that all can have at least, unless they want less, and what is left over then. */
function share(claims: readonly SlotClaim<bigint>[], limit: number): { readonly base: number; readonly rest: number } {
  let left = limit;
  let count = claims.length;
  for (const { wanted } of claims.toSorted((a, b) => a.wanted - b.wanted)) {
    const base = Math.floor(left / count);
    if (wanted > base) return { base, rest: left - base * count };
    left -= wanted;
    count--;
  }
  return { base: Infinity, rest: 0 };
}
