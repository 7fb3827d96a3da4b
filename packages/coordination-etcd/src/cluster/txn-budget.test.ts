// A server refuses a transaction that has more than it takes, conditions or operations, at any depth. A plan that is wrong about that
// fails only in use, on the one split that is large enough; so its arithmetic is held against the server's rule, written down here a second time.

import type { TxnOperation, Txn } from "@gossip/etcd-client";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { groupsFor, maxSplitChildren, MIN_TXN_OPS, planTxn } from "./txn-budget.ts";

/** What etcd does with a transaction before it looks at anything else. */
function isTaken({ compare, success }: Txn, maxTxnOps: number): boolean {
  const ops = Math.max(compare.length, success.length);
  return (
    ops <= maxTxnOps && success.every((operation) => !("txn" in operation) || isTaken(operation.txn, maxTxnOps - ops))
  );
}

const flatten = (operations: readonly TxnOperation[]): TxnOperation[] =>
  operations.flatMap((operation) => ("txn" in operation ? flatten(operation.txn.success) : [operation]));
const puts = (count: number): TxnOperation[] =>
  Array.from({ length: count }, (_, index) => ({ put: `k${index}`, value: "" }));

describe("planTxn", () => {
  test("a plan has every operation once, in order, and the server takes it", () => {
    const shape = fc.record({
      maxTxnOps: fc.integer({ min: 4, max: 40 }),
      compares: fc.nat(10),
      outer: fc.nat(6),
      inner: fc.nat(200),
    });
    fc.assert(
      fc.property(shape, ({ maxTxnOps, compares, outer, inner }) => {
        fc.pre(groupsFor(maxTxnOps, { compares, outer, inner }) !== undefined);
        const compare = Array.from(
          { length: compares },
          () => ({ key: "k", target: "MOD", is: "EQUAL", revision: 1n }) as const,
        );
        const [few, many] = [puts(outer), puts(inner)];
        const plan = planTxn(maxTxnOps, { compare, few, many });
        expect(flatten(plan.success)).toEqual([...few, ...many]);
        expect(isTaken(plan, maxTxnOps)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("what fits as it is, is not nested", () => {
    expect(planTxn(8, { compare: [], few: puts(2), many: puts(6) }).success.length).toBe(8);
    expect(planTxn(8, { compare: [], few: puts(2), many: puts(7) }).success.length).toBeLessThan(8);
  });

  test("what fits into no transaction is refused", () => {
    expect(groupsFor(8, { compares: 1, outer: 4, inner: 100 })).toBe(undefined);
    expect(() => planTxn(8, { compare: [], few: puts(4), many: puts(100) })).toThrow("must fit");
  });
});

test.each([
  [128, 256],
  [64, 256],
  [32, 83],
  [16, 19],
  [MIN_TXN_OPS, 2],
])("where a server takes %i operations, a split has up to %i children", (maxTxnOps, children) => {
  expect(maxSplitChildren(maxTxnOps)).toBe(children);
});
