// A message is made on the way out of a failure. One that throws there replaces the failure by its own; one that says
// the wrong thing sends an operator to the wrong place.

import { FenceEpoch, LogicalTime, RunId, ShardId, ShardKey } from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coordError } from "./coord-error.ts";
import { anyError, ERROR_KINDS, fieldsOf } from "./error-samples.fixture.ts";
import { reviveError } from "./error-value.ts";
import { InfraError } from "./infra-error.ts";
import { messageOf } from "./message-of.ts";

describe("messageOf", () => {
  test("is what the error says of itself, and what its clone would have said", () => {
    fc.assert(
      fc.property(anyError, (error) => {
        expect(messageOf(error)).toBe(error.message);
        expect(messageOf({ ...error } as typeof error)).toBe(error.message);
        expect(String(error)).toBe(`${error.kind}: ${error.message}`);
      }),
    );
  });

  test("never throws, and neither do toString, toJSON and JSON.stringify, whatever is in the fields", () => {
    const kind = fc.constantFrom(...ERROR_KINDS);
    const broken = kind.chain((name) =>
      fc
        .record(Object.fromEntries(fieldsOf(name).map((field) => [field, fc.anything()])))
        .map((fields) => reviveError({ kind: name, ...fields })),
    );
    fc.assert(
      fc.property(broken, (error) => {
        expect(messageOf(error)).toBeTypeOf("string");
        expect(String(error)).toBeTypeOf("string");
        expect(JSON.stringify(error)).toBeTypeOf("string");
      }),
    );
    expect(messageOf({ kind: "toString" } as never)).toBe("not an error of this package");
    expect(messageOf(undefined as never)).toBe("not an error of this package");
  });

  const deadline = LogicalTime.fromRaw(120n);
  const shard = ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(0x1fn));
  const fence = (epoch: bigint): FenceEpoch => FenceEpoch.fromRaw(epoch);

  test.each([
    [coordError("ShardNotFound", { shard }), "there is no shard 0000000000000001/000000000000001f"],
    [
      coordError("StaleFence", { presented: fence(2n), current: fence(3n) }),
      "the lease has fence 2, the shard is at 3",
    ],
    [
      coordError("StaleFence", { presented: fence(3n), current: fence(3n) }),
      "the lease with fence 3 is no longer held by its owner",
    ],
    [coordError("LeaseExpired", { deadline, now: deadline }), "the lease ran out at 120, and it is 120"],
    [coordError("NoneAvailable", { earliestDeadline: undefined }), "the run has no shard to claim, and none is leased"],
    [coordError("NoneAvailable", { earliestDeadline: deadline }), "every shard is leased, the first lease until 120"],
    [coordError("RunUnsettled", { active: 2, parked: 1 }), "the run still has 2 active and 1 parked shards"],
    [coordError("ResourceExhausted", { resource: "tenant_shards", slab: undefined }), "out of tenant_shards"],
    [
      coordError("ResourceExhausted", {
        resource: "shard_slab",
        slab: { kind: "SlabFull", requested: 64, available: 32 },
      }),
      "out of shard_slab: SlabFull (requested [64 bytes], available [32 bytes])",
    ],
    [
      coordError("BackendError", {
        reason: InfraError.transient({
          operation: "acquire.loadShard",
          message: "the connection was lost",
          code: "57P01",
        }),
      }),
      "[transient] acquire.loadShard: the connection was lost (57P01)",
    ],
    [coordError("GetRunFailed", { reason: coordError("RunNotFound") }), "the run could not be read back: RunNotFound"],
  ])("%s", (error, message) => {
    expect(error.message).toBe(message);
  });

  test("a missing key speaks of the operation that missed it", () => {
    const error = coordError("CheckpointMissingKey");
    expect(messageOf(error, "complete")).toMatch(/^complete /);
    expect(messageOf(error, "checkpoint")).toMatch(/^checkpoint /);
    expect(messageOf(error)).not.toMatch(/complete|checkpoint/);
  });

  test("a wrong status says which way is open; failing a run that is Initializing points to cancelling it", () => {
    const messages = (["Active", "Done", "Failed", undefined] as const).map(
      (target) => coordError("WrongStatus", { status: "Initializing", target }).message,
    );
    expect(messages.map((message) => message.includes("cancel"))).toEqual([false, false, true, false]);
    expect(new Set(messages).size).toBe(4);
  });
});
