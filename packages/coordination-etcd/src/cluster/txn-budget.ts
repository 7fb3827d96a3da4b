import { MAX_SPLIT_CHILDREN } from "@gossip/contracts";
import type { Compare, Operation, Txn } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";

/** Least operations that a server must take in a transaction for the store to work on it. */
export const MIN_TXN_OPS = 8;

/** Operations that one new shard takes: its record, its place in the order, its place by state. */
export const OPS_PER_NEW_SHARD = 3;

/** Conditions of a split, and operations beside those of the children: the record, two of its place, two counts, the census. */
const SPLIT_COMPARES = 5;
const SPLIT_OPS = 6;

/** How many conditions and operations there are, and how many of these can go into transactions within the transaction. */
export interface TxnSize {
  readonly compares: number;
  readonly outer: number;
  readonly inner: number;
}

/**
 * How many transactions within a transaction it takes to do `inner` operations, beside `compares` conditions and `outer` operations;
 * `undefined` where it cannot be done.
 *
 * A server takes so many conditions and so many operations in a transaction. One within it may have as many as are left: what the
 * outer has more of, conditions or operations, subtracted. So there is room for many more than the number itself.
 */
export function groupsFor(maxTxnOps: number, { compares, outer, inner }: TxnSize): number | undefined {
  if (Math.max(compares, outer + inner) <= maxTxnOps) return 0;
  for (let groups = 1; outer + groups < maxTxnOps; groups++) {
    const left = maxTxnOps - Math.max(compares, outer + groups);
    if (left > 0 && groups * left >= inner) return groups;
  }
  return undefined;
}

export interface TxnParts {
  readonly compare: readonly Compare[];
  readonly few: readonly Operation[];
  readonly many: readonly Operation[];
}

/** A transaction of all these operations. `many` go into transactions within it where they are too many. */
export function planTxn(maxTxnOps: number, { compare, few, many }: TxnParts): Txn {
  const groups = groupsFor(maxTxnOps, { compares: compare.length, outer: few.length, inner: many.length });
  assert(groups !== undefined, "a write set must fit into a transaction");
  if (groups === 0) return { compare, success: [...few, ...many] };
  const size = Math.ceil(many.length / groups);
  const inner = Array.from({ length: groups }, (_, index) => ({
    txn: { compare: [], success: many.slice(index * size, (index + 1) * size) },
  }));
  return { compare, success: [...few, ...inner.filter(({ txn }) => txn.success.length > 0)] };
}

/** Most children that one split can create. */
export function maxSplitChildren(maxTxnOps: number): number {
  for (let children = MAX_SPLIT_CHILDREN; children > 0; children--) {
    if (
      groupsFor(maxTxnOps, { compares: SPLIT_COMPARES, outer: 0, inner: SPLIT_OPS + OPS_PER_NEW_SHARD * children }) !==
      undefined
    )
      return children;
  }
  return 0;
}
