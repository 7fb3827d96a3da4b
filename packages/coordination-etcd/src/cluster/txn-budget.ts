import { MAX_SPLIT_CHILDREN } from "@gossip/contracts";
import type { Compare, TxnOperation, Txn } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";

/** Minimum number of operations per transaction that the server must accept. */
export const MIN_TXN_OPS = 8;

/** Operations that create one shard: its record, its entry by range start, its entry by state. */
export const OPS_PER_NEW_SHARD = 3;

/**
 * Conditions of a split, and operations besides those of the children: the record, two for its index entry, two counts,
 * the census, the tally.
 */
const SPLIT_COMPARES = 5;
const SPLIT_OPS = 7;

/** Numbers of conditions and operations. Only `inner` operations can go into nested transactions. */
export interface TxnSize {
  readonly compares: number;
  readonly outer: number;
  readonly inner: number;
}

/**
 * The number of nested transactions needed for `inner` operations, besides `compares` conditions and `outer`
 * operations; `undefined` if they do not fit.
 *
 * A server limits the conditions and the operations of a transaction. A nested one may have what is left after
 * subtracting the outer one's conditions or operations, whichever are more. So nesting makes room for many more
 * operations than the limit.
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
  readonly few: readonly TxnOperation[];
  readonly many: readonly TxnOperation[];
}

/** Builds a transaction of all these operations. If there are too many, `many` go into nested transactions. */
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

/** Maximum number of children of one split. */
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
