// A lease is presented with every write. One with a deadline that moved back, or with no fence, would make a
// worker stop too late or not at all.

import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { fence, holder, leaseOf, makeHeldShard, time } from "../kernel/world.fixture.ts";
import { LeaseHolder } from "./lease-holder.ts";
import { assertLease, Lease } from "./lease.ts";

const lease = leaseOf(makeHeldShard());

describe("Lease", () => {
  test("needs a fence and a deadline", () => {
    expect(() => Lease.of({ ...lease, fence: fence(0) })).toThrow(InvariantViolation);
    expect(() => Lease.of({ ...lease, deadline: time(0) })).toThrow(InvariantViolation);
    expect(() => LeaseHolder.of(holder({ deadline: time(0) }))).toThrow(InvariantViolation);
  });

  test("its deadline moves forward or stays", () => {
    expect(Lease.withDeadline(lease, time(111)).deadline).toBe(111n);
    expect(Lease.withDeadline(lease, lease.deadline)).toEqual(lease);
    expect(() => Lease.withDeadline(lease, time(109))).toThrow(InvariantViolation);
  });

  test.each([
    ["nothing", undefined],
    ["a tenant that is none", { ...lease, tenant: "me" }],
    ["a number for an id", { ...lease, shard: 10 }],
    ["a missing owner", { ...lease, owner: undefined }],
  ])("%s is no lease", (_name, value) => {
    expect(() => assertLease(value)).toThrow(InvariantViolation);
    expect(() => assertLease(lease)).not.toThrow();
  });
});
