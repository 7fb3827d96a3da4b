import {
  Cursor,
  DERIVED_SHARD_BIT,
  ShardSpec,
  TenantId,
  type FenceEpoch,
  type LogicalTime,
  type OpId,
  type RunId,
  type ShardId,
  type WorkerId,
} from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  RunConfig,
  type OpLogEntry,
  type PayloadHash,
  type RunRecord,
  type ShardRecord,
} from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";

// Records as they are in real life, the same in every run.

const TENANT = TenantId.fromBytes(Uint8Array.from({ length: 32 }, (_, index) => (index * 73 + 5) & 0xff));
const RUN = 0x9e37_79b9_7f4a_7c15n as RunId;

/** A 64-bit number that looks like any other. */
const scrambled = (index: number): bigint => BigInt.asUintN(64, BigInt(index + 1) * 0x9e37_79b9_7f4a_7c15n);
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const logEntry = (index: number): OpLogEntry => ({
  opId: scrambled(index) as OpId,
  kind: "Checkpoint",
  result: "Completed",
  payloadHash: scrambled(index + 100) as PayloadHash,
  executedAt: (1_780_000_000_000n + BigInt(index) * 5000n) as LogicalTime,
});

/** A shard that was never held, with nothing but its range. */
export const FRESH_SHARD: ShardRecord = newShardRecord({
  tenant: TENANT,
  key: { run: RUN, shard: 41n as ShardId },
  spec: ShardSpec.withRange({ start: text("logs/2026/06/01/"), end: text("logs/2026/06/02/") }),
  cursor: Cursor.initial(),
  cursorSemantics: "Completed",
  parent: undefined,
  now: 1_780_000_000_000n as LogicalTime,
});

/** A shard in the middle of its work: held, with a cursor, a token, metadata and a full log. */
export const BUSY_SHARD: ShardRecord = {
  ...FRESH_SHARD,
  spec: ShardSpec.withRangeAndMetadata({
    start: text("logs/2026/06/01/"),
    end: text("logs/2026/06/02/"),
    metadata: Uint8Array.from({ length: 48 }, (_, index) => index),
  }),
  cursor: Cursor.fromParts({ lastKey: text("logs/2026/06/01/eu-west-1/part-000417"), token: text("eyJwYWdlIjo0MTd9") }),
  lease: { owner: 7n as WorkerId, deadline: 1_780_000_110_000n as LogicalTime, opId: scrambled(500) as OpId },
  fenceEpoch: 3n as FenceEpoch,
  opLog: Array.from({ length: 16 }, (_, index) => logEntry(index)),
  lastTime: 1_780_000_080_000n as LogicalTime,
  attempts: 1,
};

/** `count` checkpoints of a held shard, one after the other: each record continues the log of the one before. */
export function goingOn(held: ShardRecord, count: number): readonly ShardRecord[] {
  const record = { ...held, lease: { ...held.lease!, deadline: (1n << 60n) as LogicalTime } };
  const records: ShardRecord[] = [record];
  for (let index = 1; index < count; index++) {
    const entry = logEntry(1000 + index);
    records.push({ ...record, opLog: [...records.at(-1)!.opLog.slice(1), entry], lastTime: entry.executedAt });
  }
  return records;
}

/** A derived shard that was split twice and is no more. */
export const SPLIT_SHARD: ShardRecord = {
  ...BUSY_SHARD,
  shard: (DERIVED_SHARD_BIT | 41n) as ShardId,
  status: "Split",
  lease: undefined,
  parent: 3n as ShardId,
  spawned: Array.from({ length: 5 }, (_, index) => (DERIVED_SHARD_BIT | scrambled(index)) as ShardId),
  opLog: BUSY_SHARD.opLog.slice(0, 3),
};

/** A shard that was set aside. */
export const PARKED_SHARD: ShardRecord = {
  ...FRESH_SHARD,
  status: "Parked",
  parkReason: "TooManyErrors",
  cursor: Cursor.withLastKey(text("logs/2026/06/01/a")),
  fenceEpoch: 9n as FenceEpoch,
  attempts: 4,
};

const NEW_RUN: RunRecord = newRunRecord({
  tenant: TENANT,
  run: RUN,
  config: unwrap(RunConfig.tryNew({ leaseDuration: 30_000n, maxShardRetries: 5 })),
  now: 1_780_000_000_000n as LogicalTime,
});

/** A run with so many shards, registered in one operation. */
export function activeRun(shardCount: number): RunRecord {
  const rootShards = Array.from({ length: shardCount }, (_, index) => BigInt(index) as ShardId);
  const { opId, payloadHash, executedAt } = logEntry(0);
  return {
    ...NEW_RUN,
    status: "Active",
    rootShards,
    opLog: [
      {
        opId,
        kind: "RegisterShards",
        payloadHash,
        executedAt,
        result: { kind: "RegisteredShards", shards: rootShards },
      },
    ],
    lastTime: executedAt,
  };
}

/** A run that is over. */
export const DONE_RUN: RunRecord = {
  ...activeRun(3),
  status: "Done",
  completedAt: 1_780_000_090_000n as LogicalTime,
  opLog: [
    ...activeRun(3).opLog,
    {
      opId: scrambled(77) as OpId,
      kind: "CompleteRun",
      payloadHash: scrambled(78) as PayloadHash,
      executedAt: 1_780_000_090_000n as LogicalTime,
      result: { kind: "Ack" },
    },
  ],
  lastTime: 1_780_000_090_000n as LogicalTime,
};
