// Records leave as JSON for people and come back from files. What is lost on the way is lost silently, and what is let in
// without a look is a record that no transition could have made.

import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PayloadHash } from "../hashing/payload-hash.ts";
import { kernel } from "../kernel/kernel.ts";
import {
  at,
  fence,
  holder,
  initial,
  leaseOf,
  makeHeldShard,
  makeRun,
  makeShard,
  op,
  range,
  residualPlan,
  RUN,
  shardId,
  TENANT,
  time,
} from "../kernel/world.fixture.ts";
import { leaseJson, runRecordJson, shardRecordJson } from "./record-json.ts";
import type { OpLogEntry } from "./shard-record.ts";

const derived = shardId((1n << 63n) | 1n);
const through = <T>(codec: { toJson(value: T): unknown; fromJson(json: unknown): unknown }, value: T) =>
  codec.fromJson(JSON.parse(JSON.stringify(codec.toJson(value))));
const entry = (id: number): OpLogEntry => ({
  opId: op(id),
  kind: "Release",
  result: "Completed",
  payloadHash: 7n as PayloadHash,
  executedAt: time(3),
});

describe("shardRecordJson", () => {
  const held = makeHeldShard({ cursor: at("c", "t"), spec: range("a", "z", "m"), opLog: [entry(1), entry(2)] });
  const command = { tenant: TENANT, lease: leaseOf(held), plan: residualPlan("a", "m", "z"), opId: op(9) };
  const narrowed = unwrap(
    kernel.splitResidual({ run: makeRun(), shard: held, residual: undefined }, command, time(50)),
  );

  test.each([
    ["new", makeShard()],
    ["held", held],
    ["parked", makeShard({ status: "Parked", parkReason: "NotFound" })],
    ["narrowed", narrowed.outcome.value.shard],
    ["a residual", narrowed.writes!.created[0]!],
    [
      "at the limits",
      makeShard({
        fenceEpoch: fence((1n << 64n) - 1n),
        lastTime: time((1n << 64n) - 2n),
        attempts: 0xffff_ffff,
        cursorSemantics: "Dispatched",
      }),
    ],
  ])("%s: comes back as it went", (_name, record) => {
    expect(through(shardRecordJson, record)).toEqual({ ok: true, value: record });
  });

  test.each([
    ["a status that is none", { status: "Busy" }, "status"],
    ["a number for an id", { shard: 10 }, "shard"],
    ["a range that is inverted", { spec: { keyRangeStart: "eg", keyRangeEnd: "YQ", metadata: "" } }, "spec"],
    ["a tenant that is none", { tenant: "me" }, "tenant"],
    [
      "a log entry that is none",
      { opLog: [{ ...(shardRecordJson.toJson(held).opLog[0] as object), kind: "Guess" }] },
      "opLog.0.kind",
    ],
    ["a park reason on an active shard", { parkReason: "Other" }, ""],
    ["a cursor outside its range", { cursor: { lastKey: "enp6" } }, ""],
  ])("refuses %s, and says where", (_name, change, field) => {
    const json = { ...(shardRecordJson.toJson(held) as object), ...change };
    expect(shardRecordJson.fromJson(json)).toMatchObject({ ok: false, error: { kind: "InvalidField", field } });
  });

  test("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        for (const codec of [shardRecordJson, runRecordJson, leaseJson]) expect(codec.fromJson(json).ok).toBe(false);
      }),
    );
  });
});

test("runRecordJson: a run comes back as it went, its log and what it answered included", () => {
  const fresh = makeRun({ status: "Initializing", rootShards: [] });
  const shards = [initial(10, "a", "m"), initial(11, "m", "z")];
  const active = unwrap(
    kernel.registerShards({ run: fresh }, { tenant: TENANT, run: RUN, shards, opId: op(1) }, time(5)),
  ).outcome.value.run;
  const ended = unwrap(kernel.failRun({ run: active }, { tenant: TENANT, run: RUN, opId: op(2) }, time(6))).outcome
    .value;
  for (const record of [fresh, active, ended])
    expect(through(runRecordJson, record)).toEqual({ ok: true, value: record });
  expect(runRecordJson.fromJson({ ...(runRecordJson.toJson(ended) as object), completedAt: null })).toMatchObject({
    ok: false,
  });
});

test("runRecordJson: a configuration that no run can have is a typed error", () => {
  const json = runRecordJson.toJson(makeRun()) as { readonly config: object };
  for (const [config, field] of [
    [{ maxShardRetries: 2 ** 32 }, "config.maxShardRetries"],
    [{ maxShardRetries: Number.MAX_SAFE_INTEGER }, "config.maxShardRetries"],
    [{ leaseDuration: "0".repeat(16) }, ""],
  ] as const) {
    const changed = { ...json, config: { ...json.config, ...config } };
    expect(runRecordJson.fromJson(changed)).toMatchObject({ ok: false, error: { kind: "InvalidField", field } });
  }
});

test("leaseJson: a lease comes back as it went", () => {
  const lease = leaseOf(makeHeldShard({ lease: holder(), spawned: [derived] }));
  expect(leaseJson.toJson(lease)).toEqual({
    tenant: "01".repeat(32),
    run: "0000000000000001",
    shard: "000000000000000a",
    owner: "0000000000000001",
    fence: "0000000000000002",
    deadline: "000000000000006e",
  });
  expect(through(leaseJson, lease)).toEqual({ ok: true, value: lease });
  expect(leaseJson.fromJson({ ...(leaseJson.toJson(lease) as object), fence: "0".repeat(16) })).toMatchObject({
    error: { field: "fence" },
  });
  expect(leaseJson.fromJson({ ...(leaseJson.toJson(lease) as object), deadline: "0".repeat(16) })).toMatchObject({
    error: { field: "deadline" },
  });
});
