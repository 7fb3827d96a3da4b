// Acquiring decides who works. A lease given twice is work done twice; one that a retry cannot get back is a shard
// without a worker for a whole lease.

import { LogicalTime } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { RunConfig } from "../records/run-config.ts";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { acquire } from "./acquire.ts";
import { testRuleOrder } from "./rule-order.fixture.ts";
import {
  at,
  fence,
  holder,
  KEY,
  makeHeldShard,
  makeRun,
  makeShard,
  op,
  STRANGER,
  TENANT,
  time,
  worker,
} from "./world.fixture.ts";

const command = { tenant: TENANT, key: KEY, worker: worker(1), opId: op(1000) };
const limited = (maxShardRetries: number) =>
  makeRun({ config: unwrap(RunConfig.tryNew({ leaseDuration: 100n, maxShardRetries })) });

interface Situation {
  readonly run: RunRecord | undefined;
  readonly shard: ShardRecord | undefined;
}

describe("acquire checks in order", () => {
  testRuleOrder<Situation>(
    () => ({ run: limited(3), shard: makeShard() }),
    [
      { refusal: "ShardNotFound", breakIt: (s) => ({ ...s, shard: undefined }) },
      { refusal: "TenantMismatch", breakIt: (s) => ({ ...s, shard: s.shard && { ...s.shard, tenant: STRANGER } }) },
      {
        refusal: "RunTerminal",
        breakIt: (s) => ({ ...s, run: makeRun({ status: "Cancelled", completedAt: time(1) }) }),
      },
      { refusal: "ShardTerminal", breakIt: (s) => ({ ...s, shard: s.shard && { ...s.shard, status: "Done" } }) },
      {
        refusal: "AlreadyLeased",
        breakIt: (s) => ({ ...s, shard: s.shard && { ...s.shard, lease: holder({ owner: worker(2) }) } }),
      },
    ],
    (situation) => acquire(situation, command, time(10)),
  );

  test("a shard of a run that is not registered yet is not there", () => {
    expect(acquire({ run: makeRun({ status: "Initializing" }), shard: makeShard() }, command, time(10))).toMatchObject({
      error: { kind: "ShardNotFound", shard: KEY },
    });
    expect(acquire({ run: undefined, shard: makeShard() }, command, time(10))).toMatchObject({
      error: { kind: "ShardNotFound" },
    });
  });

  test.each([0n, (1n << 64n) - 1n])("a clock at %s is refused before anything else", (now) => {
    expect(() => acquire({ run: undefined, shard: undefined }, command, now as LogicalTime)).toThrow("now must not be");
  });
});

describe("acquire", () => {
  test("raises the fence, sets the deadline a lease from now, and tells it", () => {
    const before = makeShard();
    const { outcome, writes, events } = unwrap(acquire({ run: makeRun(), shard: before }, command, time(10)));

    expect(outcome).toEqual({
      kind: "Granted",
      shard: makeShard({ fenceEpoch: fence(2), lease: holder(), lastTime: time(10), attempts: 1 }),
    });
    expect(writes).toMatchObject({ kind: "UpdateShard", needsRun: true });
    expect(events).toMatchObject([{ kind: "ShardAcquired", at: 10n, worker: 1n, fenceEpoch: 2n, shard: 10n }]);
    expect(before).toEqual(makeShard());
  });

  test("takes over at the deadline and not a moment before", () => {
    const shard = makeHeldShard();
    const other = { ...command, worker: worker(2), opId: op(7) };
    expect(acquire({ run: makeRun(), shard }, other, time(109))).toMatchObject({
      error: { kind: "AlreadyLeased", leaseDeadline: 110n },
    });
    expect(acquire({ run: makeRun(), shard }, other, time(110))).toMatchObject({
      value: { outcome: { kind: "Granted", shard: { fenceEpoch: 3n, lease: { owner: 2n, deadline: 210n } } } },
    });
  });

  test("its deadline saturates", () => {
    const now = (1n << 64n) - 3n;
    expect(unwrap(acquire({ run: makeRun(), shard: makeShard() }, command, time(now))).outcome).toMatchObject({
      shard: { lease: { deadline: LogicalTime.MAX } },
    });
  });

  describe("repeated", () => {
    const held = { run: makeRun(), shard: makeHeldShard({ lease: holder({ deadline: time(150) }) }) };

    test("by the same worker with the same op id gives the same lease, with the deadline it has now", () => {
      expect(unwrap(acquire(held, command, time(149)))).toEqual({
        outcome: { kind: "Repeated", shard: held.shard },
        writes: undefined,
        events: [],
      });
    });

    test("also where the run has ended", () => {
      const ended = { ...held, run: makeRun({ status: "Done", completedAt: time(1) }) };
      expect(unwrap(acquire(ended, command, time(149))).outcome.kind).toBe("Repeated");
    });

    test.each([
      ["another op id", { ...command, opId: op(1001) }],
      ["another worker", { ...command, worker: worker(2) }],
    ])("with %s is refused", (_name, other) => {
      expect(acquire(held, other, time(149))).toMatchObject({ error: { kind: "AlreadyLeased" } });
    });

    test("after the lease lapsed is a new acquire", () => {
      expect(unwrap(acquire(held, command, time(150))).outcome).toMatchObject({
        kind: "Granted",
        shard: { fenceEpoch: 3n },
      });
    });
  });

  describe("a shard that makes no progress", () => {
    test.each([
      { limit: 0, allowed: 1 },
      { limit: 2, allowed: 3 },
    ])("limit $limit allows $allowed acquisitions, then it is parked", ({ limit, allowed }) => {
      const run = limited(limit);
      let shard = makeShard({ cursor: at("c") });
      for (let attempt = 1; attempt <= allowed; attempt++) {
        const { outcome } = unwrap(acquire({ run, shard }, command, time(attempt * 1000)));
        expect(outcome.kind).toBe("Granted");
        if (outcome.kind === "Granted") shard = outcome.shard;
      }

      const { outcome, writes, events } = unwrap(acquire({ run, shard }, command, time(50_000)));
      expect(outcome).toMatchObject({ kind: "Parked", refusal: { kind: "ShardTerminal", status: "Parked" } });
      expect(writes).toMatchObject({
        shard: {
          status: "Parked",
          parkReason: "TooManyErrors",
          lease: undefined,
          fenceEpoch: shard.fenceEpoch,
          cursor: shard.cursor,
          opLog: [],
          lastTime: 50_000n,
        },
      });
      expect(events).toMatchObject([{ kind: "ShardParked", reason: "TooManyErrors" }]);
    });

    test("is left alone while a worker holds it", () => {
      const shard = makeHeldShard({ attempts: 9, lease: holder({ owner: worker(2) }) });
      expect(acquire({ run: limited(0), shard }, command, time(20))).toMatchObject({
        error: { kind: "AlreadyLeased" },
      });
    });

    test("is never parked without a limit", () => {
      const shard = makeShard({ attempts: 0xffff_ffff });
      expect(unwrap(acquire({ run: makeRun(), shard }, command, time(20))).outcome).toMatchObject({
        kind: "Granted",
        shard: { attempts: 0xffff_ffff },
      });
    });
  });

  test("a clock that steps back does not revive a lapsed lease", () => {
    const shard = makeShard({ lease: undefined, lastTime: time(500) });
    expect(unwrap(acquire({ run: makeRun(), shard }, command, time(10))).outcome).toMatchObject({
      shard: { lastTime: 500n, lease: { deadline: 600n } },
    });
  });
});
