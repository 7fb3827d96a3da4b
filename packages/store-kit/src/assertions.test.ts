// A record under another tenant's keys is a leak, and no type prevents it.
import { RunId, TenantId } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import { expect, test } from "vitest";
import { assertClaimQuery, assertOwnRecord, assertPageQuery } from "./assertions.ts";

const own = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };

test("a record of another run or tenant is refused", () => {
  expect(() => assertOwnRecord(own, { ...own })).not.toThrow();
  expect(() => assertOwnRecord(own, { ...own, run: RunId.fromRaw(2n) })).toThrow(InvariantViolation);
  const other = TenantId.fromBytes(new Uint8Array(32).fill(1));
  expect(() => assertOwnRecord(own, { ...own, tenant: other })).toThrow(InvariantViolation);
});

test("limits and spreads outside their range are refused", () => {
  expect(() => assertClaimQuery({ limit: 1, spread: 2 ** 32 - 1 })).not.toThrow();
  expect(() => assertPageQuery({ limit: 1 })).not.toThrow();
  for (const query of [
    { limit: 0, spread: 0 },
    { limit: 1.5, spread: 0 },
    { limit: 1, spread: -1 },
    { limit: 1, spread: 2 ** 32 },
  ])
    expect(() => assertClaimQuery(query)).toThrow(InvariantViolation);
  expect(() => assertPageQuery({ limit: 0 })).toThrow(InvariantViolation);
});
