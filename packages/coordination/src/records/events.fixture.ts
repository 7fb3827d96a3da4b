import { ShardId, WorkerId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";
import { fence, RUN, SHARD, TENANT, text, time } from "../kernel/world.fixture.ts";
import type { CoordinationEvent, EventEnvelope, EventKind } from "./coordination-event.ts";

const envelope: EventEnvelope = { tenant: TENANT, run: RUN, at: time(5) };
const derived = ShardId.fromRaw((1n << 63n) | 7n);
const key = text("secret-key");

/** One event of every kind. A kind that is missing does not compile. */
export const EVENT_OF_KIND: { readonly [K in EventKind]: CoordinationEvent<K> } = {
  ShardAcquired: {
    ...envelope,
    kind: "ShardAcquired",
    shard: SHARD,
    worker: WorkerId.fromRaw((1n << 64n) - 1n),
    fenceEpoch: fence(2),
  },
  ShardCheckpointed: {
    ...envelope,
    kind: "ShardCheckpointed",
    shard: SHARD,
    lastKey: new Redacted(key),
    lastKeySize: key.length,
  },
  ShardCompleted: { ...envelope, kind: "ShardCompleted", shard: SHARD },
  ShardParked: { ...envelope, kind: "ShardParked", shard: SHARD, reason: "Poisoned" },
  ShardReleased: { ...envelope, kind: "ShardReleased", shard: SHARD },
  ShardSplit: { ...envelope, kind: "ShardSplit", parent: SHARD, children: [derived, SHARD] },
  ShardResidualCreated: { ...envelope, kind: "ShardResidualCreated", parent: SHARD, residual: derived },
  ShardUnparked: { ...envelope, kind: "ShardUnparked", shard: SHARD, newFenceEpoch: fence(3) },
  ShardLeaseRenewed: { ...envelope, kind: "ShardLeaseRenewed", shard: SHARD, newDeadline: time(105) },
  RunCreated: { ...envelope, kind: "RunCreated" },
  RunActivated: { ...envelope, kind: "RunActivated", shardCount: 3 },
  RunCompleted: { ...envelope, kind: "RunCompleted" },
  RunFailed: { ...envelope, kind: "RunFailed" },
  RunCancelled: { ...envelope, kind: "RunCancelled" },
  RunDeleted: { ...envelope, kind: "RunDeleted" },
};
