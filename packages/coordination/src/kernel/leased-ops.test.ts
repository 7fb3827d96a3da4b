// The three-step pipeline: replay, lease, the operation's own rule. Replay after the lease check would strand a worker
// that crashed before it got the response; without the lease check a zombie could write.

import { Cursor, type OpId } from "@gossip/contracts";
import type { IdempotentOutcome } from "@gossip/coordination-errors";
import { unwrap, type Result } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { RANGE_EXHAUSTED } from "../hashing/payload-hash.ts";
import type { Lease } from "../records/lease.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { checkpoint } from "./checkpoint.ts";
import { complete } from "./complete.ts";
import type { LoadedShard } from "./find-shard.ts";
import { park } from "./park.ts";
import { release } from "./release.ts";
import { renew } from "./renew.ts";
import { testRuleOrder } from "./rule-order.fixture.ts";
import type { RecordWrites, Transition } from "./transition.ts";
import {
  at,
  fence,
  holder,
  leaseOf,
  makeHeldShard,
  makeRun,
  op,
  range,
  STRANGER,
  TENANT,
  time,
  worker,
} from "./world.fixture.ts";

interface Situation {
  readonly run: RunRecord | undefined;
  readonly shard: ShardRecord;
  readonly isMissing?: boolean;
  readonly lease: Lease;
  readonly opId: OpId;
  readonly cursor: Cursor;
  readonly now: number;
}

const base = (): Situation => {
  const shard = makeHeldShard({ cursor: at("c"), spec: range("a", "m") });
  return { run: makeRun(), shard, lease: leaseOf(shard), opId: op(1), cursor: at("d"), now: 50 };
};
const loaded = (s: Situation): LoadedShard => ({ run: s.run, shard: s.isMissing === true ? undefined : s.shard });
const command = (s: Situation) => ({ tenant: TENANT, lease: s.lease, opId: s.opId });
const withShard = (s: Situation, fields: Partial<ShardRecord>): Situation => ({
  ...s,
  shard: { ...s.shard, ...fields },
});

type Run = (s: Situation) => Result<Transition<IdempotentOutcome<unknown>>, { readonly kind: string }>;
type Name = "checkpoint" | "complete" | "park" | "release";
const OPERATIONS: Record<Name, Run> = {
  checkpoint: (s: Situation) => checkpoint(loaded(s), { ...command(s), cursor: s.cursor, renew: false }, time(s.now)),
  complete: (s: Situation) => complete(loaded(s), { ...command(s), point: s.cursor }, time(s.now)),
  park: (s: Situation) => park(loaded(s), { ...command(s), reason: "Poisoned" }, time(s.now)),
  release: (s: Situation) => release(loaded(s), command(s), time(s.now)),
};
const NAMES = Object.keys(OPERATIONS) as Name[];

/** The same op id, used before for something else. */
const conflict = (s: Situation) =>
  withShard(s, {
    opLog: [{ opId: s.opId, kind: "Unpark", result: "Completed", payloadHash: 5n as never, executedAt: time(5) }],
  });

const LEASE_RULES = [
  { refusal: "ShardNotFound", breakIt: (s: Situation) => ({ ...s, isMissing: true }) },
  { refusal: "OpIdConflict", breakIt: conflict },
  { refusal: "TenantMismatch", breakIt: (s: Situation) => withShard(s, { tenant: STRANGER }) },
  { refusal: "ShardTerminal", breakIt: (s: Situation) => withShard(s, { status: "Done" }) },
  { refusal: "StaleFence", breakIt: (s: Situation) => withShard(s, { fenceEpoch: fence(3) }) },
  { refusal: "LeaseExpired", breakIt: (s: Situation) => ({ ...s, now: 110 }) },
] as const;

const longKey = "k".repeat(4097);
const CURSOR_RULES = [
  { refusal: "CheckpointMissingKey", breakIt: (s: Situation) => ({ ...s, cursor: Cursor.initial() }) },
  { refusal: "CursorKeyTooLarge", breakIt: (s: Situation) => ({ ...s, cursor: at(longKey) }) },
] as const;

describe.each(["park", "release"] as const)("%s checks in order", (name) => {
  testRuleOrder(base, LEASE_RULES, OPERATIONS[name]);
});

describe.each(["checkpoint", "complete"] as const)("%s checks in order", (name) => {
  testRuleOrder(base, [...LEASE_RULES, ...CURSOR_RULES], OPERATIONS[name]);

  test.each([
    ["key size before token size", at(longKey, "t".repeat(16_385)), "CursorKeyTooLarge"],
    ["token size before regression", at("b", "t".repeat(16_385)), "CursorTokenTooLarge"],
    ["regression before bounds", at("A"), "CursorRegression"],
    ["below the range", at("m"), "CursorOutOfBounds"],
    ["key size before regression", at("a" + longKey), "CursorKeyTooLarge"],
    ["token size before bounds", at("z", "t".repeat(16_385)), "CursorTokenTooLarge"],
  ])("of the cursor: %s", (_name, cursor, kind) => {
    expect(OPERATIONS[name]({ ...base(), cursor })).toMatchObject({ error: { kind } });
  });

  test("errors carry sizes and not keys", () => {
    expect(OPERATIONS[name]({ ...base(), cursor: at("bbb") })).toMatchObject({ error: { oldKey: 1, newKey: 3 } });
    expect(OPERATIONS[name]({ ...base(), cursor: at("mm") })).toMatchObject({
      error: { lastKey: 2, specStart: 1, specEnd: 1 },
    });
  });

  test("limits are inclusive", () => {
    const s = withShard(base(), { spec: range("a", "") });
    expect(OPERATIONS[name]({ ...s, cursor: at("k".repeat(4096), "t".repeat(16_384)) })).toMatchObject({ ok: true });
  });
});

describe.each(NAMES)("%s and its lease", (name) => {
  const run = OPERATIONS[name];

  test("the owner must be the holder, though the fence agrees", () => {
    const s = base();
    expect(run({ ...s, lease: leaseOf(s.shard, { owner: worker(2) }) })).toMatchObject({
      error: { kind: "StaleFence", presented: 2n, current: 2n },
    });
  });

  test("a fence without a holder is stale, with equal numbers", () => {
    expect(run(withShard(base(), { lease: undefined }))).toMatchObject({
      error: { kind: "StaleFence", presented: 2n, current: 2n },
    });
  });

  test("expiry is reported before a wrong owner", () => {
    const s = base();
    expect(run({ ...s, now: 110, lease: leaseOf(s.shard, { owner: worker(2) }) })).toMatchObject({
      error: { kind: "LeaseExpired", deadline: 110n, now: 110n },
    });
  });

  test("the record's deadline counts, and not the one in the lease", () => {
    const s = base();
    expect(run({ ...s, now: 109, lease: leaseOf(s.shard, { deadline: time(20) }) })).toMatchObject({ ok: true });
    expect(run({ ...s, now: 110, lease: leaseOf(s.shard, { deadline: time(999) }) })).toMatchObject({
      error: { kind: "LeaseExpired" },
    });
  });

  test("goes through although the run has ended", () => {
    expect(run({ ...base(), run: makeRun({ status: "Failed", completedAt: time(1) }) })).toMatchObject({ ok: true });
  });

  test("a clock that steps back happens at the record's last time", () => {
    const s = withShard(base(), { lastTime: time(60) });
    expect(writtenBy(run({ ...s, now: 5 }))).toMatchObject({ lastTime: 60n });
    // The record has seen its own deadline pass: an earlier clock does not bring the lease back.
    const late = withShard(s, { lastTime: time(110) });
    expect(run({ ...late, now: 50 })).toMatchObject({ error: { kind: "LeaseExpired", now: 110n } });
  });

  test.each([0, (1n << 64n) - 1n])("a clock at %s throws", (now) => {
    expect(() => run({ ...base(), isMissing: true, now: now as number })).toThrow("now must not be");
  });

  test("changes nothing of what it was given", () => {
    const s = base();
    void run(s);
    expect(s).toEqual(base());
  });
});

describe.each(NAMES)("%s repeated", (name) => {
  const run = OPERATIONS[name];
  const done = () => {
    const s = base();
    return { ...s, shard: writtenBy(run(s)) };
  };

  test.each([
    ["at once", (s: Situation) => s],
    ["after the lease lapsed", (s: Situation) => ({ ...s, now: 5000 })],
    [
      "after another took over",
      (s: Situation) => withShard(s, { fenceEpoch: fence(9), lease: holder({ owner: worker(5) }) }),
    ],
    ["after the shard was done", (s: Situation) => withShard(s, { status: "Done", lease: undefined })],
    ["after the run ended", (s: Situation) => ({ ...s, run: makeRun({ status: "Done", completedAt: time(1) }) })],
  ])("%s is a replay that writes nothing", (_when, change) => {
    expect(unwrap(run(change(done())))).toMatchObject({ outcome: { kind: "Replayed" }, writes: undefined, events: [] });
  });

  test("with a new op id is judged anew", () => {
    const again = run({ ...done(), opId: op(2) });
    expect(again).toMatchObject(name === "checkpoint" ? { ok: true } : { ok: false });
  });
});

describe("checkpoint", () => {
  const run = (s: Situation, renews = false) =>
    checkpoint(loaded(s), { ...command(s), cursor: s.cursor, renew: renews }, time(s.now));

  test("stores key and token, logs the operation, and starts counting attempts anew", () => {
    const s = withShard(base(), { cursor: at("c", "old"), attempts: 4 });
    const { writes, events } = unwrap(run(s));
    expect(writes).toEqual({
      kind: "UpdateShard",
      needsRun: false,
      shard: {
        ...s.shard,
        cursor: at("d"),
        attempts: 0,
        lastTime: time(50),
        opLog: [
          {
            opId: op(1),
            kind: "Checkpoint",
            result: "Completed",
            payloadHash: expect.any(BigInt),
            executedAt: time(50),
          },
        ],
      },
    });
    expect(events).toMatchObject([{ kind: "ShardCheckpointed", lastKeySize: 1, at: 50n }]);
  });

  test("may repeat the key to move the token: that is no advance", () => {
    const s = withShard({ ...base(), cursor: at("c", "next") }, { attempts: 4 });
    expect(writtenBy(run(s))).toMatchObject({ cursor: at("c", "next"), attempts: 4 });
  });

  test("shares with the record before whatever did not change", () => {
    const s = base();
    const after = writtenBy(run(s));
    expect(after.spec).toBe(s.shard.spec);
    expect(after.lease).toBe(s.shard.lease);
    expect(after.spawned).toBe(s.shard.spawned);
  });

  test("renews in the same write where it is asked to", () => {
    const { outcome, writes, events } = unwrap(run(base(), true));
    expect(outcome).toMatchObject({ value: { newDeadline: 150n } });
    expect(writes).toMatchObject({ needsRun: true, shard: { lease: { owner: 1n, deadline: 150n, opId: 1000n } } });
    expect(events.map((event) => event.kind)).toEqual(["ShardCheckpointed", "ShardLeaseRenewed"]);
  });

  test("of a run that has ended is stored but renews nothing", () => {
    const s = { ...base(), run: makeRun({ status: "Cancelled", completedAt: time(1) }) };
    const { outcome, writes, events } = unwrap(run(s, true));
    expect(outcome).toMatchObject({ kind: "Executed", value: { newDeadline: undefined } });
    expect(writes).toMatchObject({ needsRun: false, shard: { cursor: at("d"), lease: { deadline: 110n } } });
    expect(events.map((event) => event.kind)).toEqual(["ShardCheckpointed"]);
  });

  test("asking for a renewal is not part of the payload", () => {
    const s = base();
    const again = { ...s, shard: writtenBy(run(s)) };
    expect(unwrap(run(again, true)).outcome.kind).toBe("Replayed");
  });
});

describe("complete", () => {
  test("stores the cursor and ends the lease", () => {
    expect(writtenBy(OPERATIONS.complete(base()))).toMatchObject({
      status: "Done",
      cursor: at("d"),
      lease: undefined,
      fenceEpoch: 2n,
    });
  });

  test("an exhausted range keeps its cursor, even an initial one", () => {
    for (const cursor of [Cursor.initial(), at("c", "t")]) {
      const s = withShard(base(), { cursor });
      const result = complete(loaded(s), { ...command(s), point: RANGE_EXHAUSTED }, time(50));
      expect(writtenBy(result)).toMatchObject({ status: "Done", cursor });
    }
  });

  test("exhausted and a cursor are two payloads", () => {
    const s = base();
    const exhausted = complete(loaded(s), { ...command(s), point: RANGE_EXHAUSTED }, time(50));
    expect(OPERATIONS.complete({ ...s, shard: writtenBy(exhausted) })).toMatchObject({
      error: { kind: "OpIdConflict" },
    });
  });
});

describe("park", () => {
  test("sets the reason, ends the lease and keeps the cursor", () => {
    expect(writtenBy(OPERATIONS.park(base()))).toMatchObject({
      status: "Parked",
      parkReason: "Poisoned",
      lease: undefined,
      cursor: at("c"),
    });
  });

  test("another reason under the same op id is a conflict", () => {
    const s = base();
    const again = { ...s, shard: writtenBy(OPERATIONS.park(s)) };
    expect(park(loaded(again), { ...command(again), reason: "Other" }, time(51))).toMatchObject({
      error: { kind: "OpIdConflict" },
    });
  });
});

describe("release", () => {
  test("ends the lease and nothing else; the old lease is then stale with equal numbers", () => {
    const s = base();
    const released = writtenBy(OPERATIONS.release(s));
    expect(released).toMatchObject({
      status: "Active",
      lease: undefined,
      cursor: at("c"),
      fenceEpoch: 2n,
      attempts: 1,
    });
    expect(OPERATIONS.checkpoint({ ...s, shard: released, opId: op(2) })).toMatchObject({
      error: { kind: "StaleFence", presented: 2n, current: 2n },
    });
  });
});

describe("renew checks in order", () => {
  testRuleOrder(
    base,
    [
      LEASE_RULES[0],
      LEASE_RULES[2],
      { refusal: "RunTerminal", breakIt: (s) => ({ ...s, run: makeRun({ status: "Done", completedAt: time(1) }) }) },
      ...LEASE_RULES.slice(3),
    ],
    (s) => renew(loaded(s), { tenant: TENANT, lease: s.lease }, time(s.now)),
  );

  test("moves the deadline and nothing else", () => {
    const s = base();
    const { outcome, writes, events } = unwrap(renew(loaded(s), { tenant: TENANT, lease: s.lease }, time(50)));
    expect(outcome.newDeadline).toBe(150n);
    expect(writes).toEqual({
      kind: "UpdateShard",
      needsRun: true,
      shard: { ...s.shard, lease: holder({ deadline: time(150) }), lastTime: time(50) },
    });
    expect(events).toMatchObject([{ kind: "ShardLeaseRenewed", newDeadline: 150n }]);
  });

  test("a clock that steps back does not move the deadline back", () => {
    const s = withShard(base(), { lastTime: time(60), lease: holder({ deadline: time(160) }) });
    expect(unwrap(renew(loaded(s), { tenant: TENANT, lease: s.lease }, time(20))).outcome.newDeadline).toBe(160n);
  });
});

/** The record that an accepted operation would store. */
function writtenBy(result: Result<Transition<unknown>, unknown>): ShardRecord {
  const writes: RecordWrites | undefined = unwrap(result).writes;
  if (writes?.kind !== "UpdateShard") throw new Error("the operation does not update a shard");
  return writes.shard;
}
