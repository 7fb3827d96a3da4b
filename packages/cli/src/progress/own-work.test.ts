// The store shows what is stored. What this process has done since then, and what it waits for, only its events show.
import { FenceEpoch, ShardId } from "@gossip/contracts";
import type { WorkerEvent, WorkerProgress } from "@gossip/worker";
import { describe, expect, test } from "vitest";
import { OwnWork, shownOutage } from "./own-work.ts";

const [A, B] = [ShardId.fromRaw(1n), ShardId.fromRaw(2n)];
const progress = (items: number, held = 2): WorkerProgress => ({ items, held }) as WorkerProgress;
const claimed = (shard: ShardId): WorkerEvent => ({
  kind: "ShardClaimed",
  shard,
  fence: FenceEpoch.fromRaw(1n),
  isResumed: false,
});
const stored = (shard: ShardId, items: number): WorkerEvent => ({ kind: "ShardCheckpointed", shard, items, ms: 1 });
describe("OwnWork", () => {
  test("counts what is done and not stored, through checkpoints, ends and losses", () => {
    const own = new OwnWork(() => 0);
    for (const event of [claimed(A), claimed(B)]) own.onEvent(event);
    own.onProgress(progress(100));
    expect(own.unstored).toBe(100);
    own.onEvent(stored(A, 60));
    expect(own.unstored).toBe(40);
    own.onEvent({ kind: "ShardCompleted", shard: A, items: 80 });
    expect(own.unstored).toBe(20);
    own.onEvent({ kind: "LeaseLost", shard: B, items: 20, cause: "Unconfirmed", isTaken: false });
    expect(own.unstored).toBe(0);
  });

  test("items that were lost with their shard and are done again count once", () => {
    const own = new OwnWork(() => 0);
    own.onEvent(claimed(A));
    own.onProgress(progress(10));
    own.onEvent(stored(A, 6));
    expect([own.done, own.unstored]).toEqual([10, 4]);
    own.onEvent({ kind: "LeaseLost", shard: A, items: 10, cause: "LeaseExpired", isTaken: false });
    expect([own.done, own.unstored]).toEqual([6, 0]);
    own.onEvent(claimed(A));
    own.onProgress(progress(14));
    expect([own.done, own.unstored]).toEqual([10, 4]);
    own.onEvent({ kind: "ShardCompleted", shard: A, items: 4 });
    expect([own.done, own.unstored]).toEqual([10, 0]);
  });

  test("the store or the source is out from when it became unavailable until it is back", () => {
    let nowMs = 1000;
    const own = new OwnWork(() => nowMs);
    expect(own.outage).toBe(undefined);
    own.onEvent({ kind: "SourceUnavailable" });
    nowMs = 9000;
    expect(own.outage).toEqual({ what: "source", sinceMs: 1000 });
    own.onEvent({ kind: "StoreUnavailable" });
    expect(own.outage).toEqual({ what: "store", sinceMs: 9000 });
    own.onEvent({ kind: "StoreBack", afterMs: 1 });
    expect(own.outage?.what).toBe("source");
    own.onEvent({ kind: "SourceBack", afterMs: 1 });
    expect(own.outage).toBe(undefined);
    own.onEvent({ kind: "SinkUnavailable" });
    expect(own.outage).toEqual({ what: "results", sinceMs: 9000 });
    own.onEvent({ kind: "SinkBack", afterMs: 1 });
    expect(own.outage).toBe(undefined);
  });

  test("a store that cannot be looked at is out since the work noticed, if that was earlier", () => {
    const out = { what: "store", sinceMs: 1000 } as const;
    expect(shownOutage(undefined, undefined)).toBe(undefined);
    expect(shownOutage(undefined, 3000)).toEqual({ what: "store", sinceMs: 3000 });
    expect([shownOutage(out, 3000), shownOutage(out, undefined)]).toEqual([out, out]);
    expect(shownOutage(out, 500)).toEqual({ what: "store", sinceMs: 500 });
    expect(shownOutage({ what: "source", sinceMs: 1000 }, 3000)).toEqual({ what: "store", sinceMs: 3000 });
  });
});
