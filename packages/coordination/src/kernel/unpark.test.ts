// Unparking is the one way back from a terminal state. Without a higher fence, a worker that held the shard before it was
// parked could write to it again.

import type { OpId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { RunRecord } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import { testRuleOrder } from "./rule-order.fixture.ts";
import type { UpdateShard } from "./transition.ts";
import { unpark } from "./unpark.ts";
import { at, fence, KEY, makeRun, makeShard, op, STRANGER, TENANT, time } from "./world.fixture.ts";

interface Situation {
  readonly run: RunRecord;
  readonly shard: ShardRecord | undefined;
  readonly opId: OpId;
}
const parked = () =>
  makeShard({
    status: "Parked",
    parkReason: "Other",
    fenceEpoch: fence(4),
    cursor: at("c", "t"),
    attempts: 6,
    lastTime: time(30),
  });
const base = (): Situation => ({ run: makeRun(), shard: parked(), opId: op(3) });
const withShard = (s: Situation, fields: Partial<ShardRecord>) => ({
  ...s,
  shard: s.shard && { ...s.shard, ...fields },
});
const run = (s: Situation) => unpark(s, { tenant: TENANT, key: KEY, opId: s.opId }, time(50));
const ended = makeRun({ status: "Done", completedAt: time(1) });

describe("unpark checks in order", () => {
  testRuleOrder<Situation>(
    base,
    [
      { refusal: "ShardNotFound", breakIt: (s) => ({ ...s, shard: undefined }) },
      { refusal: "TenantMismatch", breakIt: (s) => withShard(s, { tenant: STRANGER }) },
      {
        refusal: "OpIdConflict",
        breakIt: (s) =>
          withShard(s, {
            opLog: [{ opId: s.opId, kind: "Park", result: "Completed", payloadHash: 5n as never, executedAt: time(5) }],
          }),
      },
      { refusal: "RunTerminal", breakIt: (s) => ({ ...s, run: ended }) },
      { refusal: "NotParked", breakIt: (s) => withShard(s, { status: "Done", parkReason: undefined }) },
    ],
    run,
  );
});

describe("unpark", () => {
  test("raises the fence, keeps the cursor and forgets the attempts", () => {
    const { writes, events } = unwrap(run(base()));
    expect(writes).toMatchObject({
      needsRun: true,
      shard: {
        status: "Active",
        parkReason: undefined,
        fenceEpoch: 5n,
        lease: undefined,
        cursor: at("c", "t"),
        attempts: 0,
        lastTime: 50n,
      },
    });
    expect(events).toMatchObject([{ kind: "ShardUnparked", newFenceEpoch: 5n }]);
  });

  test("repeated is a replay, also after the run ended", () => {
    const shard = (unwrap(run(base())).writes as UpdateShard).shard;
    for (const again of [
      { ...base(), shard },
      { ...base(), shard, run: ended },
    ]) {
      expect(unwrap(run(again))).toMatchObject({ outcome: { kind: "Replayed" }, writes: undefined });
    }
  });
});
