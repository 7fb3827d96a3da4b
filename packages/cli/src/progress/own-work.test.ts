// The store shows what is stored. What this process has done since then, and what it waits for, only its events show.
import { FenceEpoch, ShardId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";
import type { WorkerEvent, WorkerProgress } from "@gossip/worker";
import { describe, expect, test } from "vitest";
import { OwnWork } from "./own-work.ts";

const [A, B] = [ShardId.fromRaw(1n), ShardId.fromRaw(2n)];
const progress = (items: number, held = 2): WorkerProgress => ({ items, held }) as WorkerProgress;
const claimed = (shard: ShardId): WorkerEvent => ({
  kind: "ShardClaimed",
  shard,
  fence: FenceEpoch.fromRaw(1n),
  isResumed: false,
});
const stored = (shard: ShardId, items: number): WorkerEvent => ({ kind: "ShardCheckpointed", shard, items, ms: 1 });
const unreadable = (shard: ShardId): WorkerEvent => ({
  kind: "SourceFailed",
  shard,
  attempt: 1,
  willRetry: true,
  waitMs: 100,
  cause: new Redacted("gone"),
});
const storeFailed = {
  kind: "StoreFailed",
  shard: A,
  operation: "checkpoint",
  error: { kind: "BackendError" },
} as unknown as WorkerEvent;

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

  test("the store is out from its first failure until it responds again", () => {
    let nowMs = 1000;
    const own = new OwnWork(() => nowMs);
    own.onEvent(claimed(A));
    expect(own.outage).toBe(undefined);
    own.onEvent(storeFailed);
    nowMs = 9000;
    own.onEvent(storeFailed);
    expect(own.outage).toEqual({ what: "store", sinceMs: 1000 });
    own.onEvent(stored(A, 0));
    expect(own.outage).toBe(undefined);
  });

  test("the source is out when no shard in work can be read", () => {
    let nowMs = 1000;
    const own = new OwnWork(() => nowMs);
    own.onProgress(progress(0));
    own.onEvent(unreadable(A));
    expect(own.outage).toBe(undefined);
    nowMs = 2000;
    own.onEvent(unreadable(B));
    expect(own.outage).toEqual({ what: "source", sinceMs: 1000 });
    own.onEvent(stored(A, 5));
    expect(own.outage).toBe(undefined);
  });
});
