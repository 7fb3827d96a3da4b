import type { Cursor, ShardSpecRef } from "@gossip/contracts";
import type {
  CapacityHint,
  Lease,
  OpLogEntry,
  RunConfig,
  RunOpLogEntry,
  RunProgress,
  RunRecord,
  ShardRecord,
  ShardSnapshot,
  ShardSummary,
} from "@gossip/coordination";
import type {
  CapacityWire,
  ConfigWire,
  CursorWire,
  LeaseWire,
  LoggedOpWire,
  ProgressWire,
  RangeWire,
  RunWire,
  ShardSummaryWire,
  ShardWire,
  SnapshotWire,
} from "../schema/records.ts";
import { encodeBase64Url, textOf } from "./text.ts";

/** Sixteen hex digits. */
export function writeId(id: bigint): string {
  const digits = id.toString(16);
  // Not `padStart`: it takes 400 bytes of memory.
  return digits.length === ZEROS.length ? digits : ZEROS.slice(digits.length) + digits;
}

const ZEROS = "0".repeat(16);

export function writeCursor({ lastKey, token }: Cursor): CursorWire {
  if (lastKey === undefined) return {};
  const key = textOf(lastKey);
  const named = key === undefined ? { key64: encodeBase64Url(lastKey) } : { key };
  if (token === undefined) return named;
  const text = textOf(token);
  return text === undefined ? { ...named, token64: encodeBase64Url(token) } : { ...named, token: text };
}

export function writeRange({ keyRangeStart, keyRangeEnd, metadata }: ShardSpecRef): RangeWire {
  const start = textOf(keyRangeStart);
  const end = textOf(keyRangeEnd);
  return {
    ...(start === undefined ? { start64: encodeBase64Url(keyRangeStart) } : { start }),
    ...(end === undefined ? { end64: encodeBase64Url(keyRangeEnd) } : { end }),
    ...(metadata.length === 0 ? {} : { metadata64: encodeBase64Url(metadata) }),
  };
}

export function writeLease({ tenant, run, shard, owner, fence, deadline }: Lease): LeaseWire {
  return {
    tenant,
    run: writeId(run),
    shard: writeId(shard),
    worker: writeId(owner),
    fence: fence.toString(),
    deadline: deadline.toString(),
  };
}

export function writeCapacity({ availableCount, earliestDeadline, isStarved }: CapacityHint): CapacityWire {
  return earliestDeadline === undefined
    ? { available: availableCount, isStarved }
    : { available: availableCount, earliestDeadline: earliestDeadline.toString(), isStarved };
}

export function writeSnapshot(snapshot: ShardSnapshot): SnapshotWire {
  const { status, spec, cursor, cursorSemantics, parent, spawned } = snapshot;
  return {
    status,
    range: writeRange(spec),
    cursor: writeCursor(cursor),
    cursorSemantics,
    ...(parent === undefined ? {} : { parent: writeId(parent) }),
    spawned: spawned.map(writeId),
  };
}

export function writeConfig({ leaseDuration, cursorSemantics, maxShardRetries }: RunConfig): ConfigWire {
  return {
    leaseDuration: leaseDuration.toString(),
    cursorSemantics,
    ...(maxShardRetries === undefined ? {} : { maxShardRetries }),
  };
}

export function writeRun(record: RunRecord, { withLog = false }: { readonly withLog?: boolean } = {}): RunWire {
  const { tenant, run, status, config, createdAt, completedAt, lastTime, rootShards, opLog } = record;
  return {
    tenant,
    run: writeId(run),
    status,
    config: writeConfig(config),
    createdAt: createdAt.toString(),
    ...(completedAt === undefined ? {} : { completedAt: completedAt.toString() }),
    lastTime: lastTime.toString(),
    rootShards: rootShards.map(writeId),
    ...(withLog ? { log: opLog.map(writeRunOp) } : {}),
  };
}

export function writeShard(record: ShardRecord, { withLog = false }: { readonly withLog?: boolean } = {}): ShardWire {
  const { tenant, run, shard, fenceEpoch, lastTime, attempts, parkReason, lease, opLog } = record;
  return {
    tenant,
    run: writeId(run),
    shard: writeId(shard),
    ...(parkReason === undefined ? {} : { parkReason }),
    ...(lease === undefined
      ? {}
      : { holder: { worker: writeId(lease.owner), deadline: lease.deadline.toString(), opId: writeId(lease.opId) } }),
    fence: fenceEpoch.toString(),
    lastTime: lastTime.toString(),
    attempts,
    ...writeSnapshot(record),
    ...(withLog ? { log: opLog.map(writeOp) } : {}),
  };
}

export function writeSummary(summary: ShardSummary): ShardSummaryWire {
  const { shard, status, parkReason, isLeased, leaseDeadline, acquireCount, lastKey, parent, spawnedCount } = summary;
  const { keyRangeStart, keyRangeEnd } = summary;
  const key = lastKey === undefined ? undefined : textOf(lastKey);
  return {
    shard: writeId(shard),
    status,
    ...(parkReason === undefined ? {} : { parkReason }),
    isLeased,
    ...(leaseDeadline === undefined ? {} : { leaseDeadline: leaseDeadline.toString() }),
    acquireCount,
    ...(key === undefined ? {} : { key }),
    ...(lastKey === undefined || key !== undefined ? {} : { key64: encodeBase64Url(lastKey) }),
    range: writeRange({ keyRangeStart, keyRangeEnd, metadata: NO_METADATA }),
    ...(parent === undefined ? {} : { parent: writeId(parent) }),
    spawnedCount,
  };
}

const NO_METADATA = new Uint8Array(0);

export function writeProgress({ watermark, ...counts }: RunProgress): ProgressWire {
  if (watermark === undefined) return counts;
  const text = textOf(watermark);
  return text === undefined ? { ...counts, watermark64: encodeBase64Url(watermark) } : { ...counts, watermark: text };
}

function writeOp({ opId, kind, result, payloadHash, executedAt }: OpLogEntry): LoggedOpWire {
  return {
    opId: writeId(opId),
    kind,
    result,
    payloadHash: writeId(payloadHash),
    executedAt: executedAt.toString(),
  };
}

function writeRunOp({ opId, kind, result, payloadHash, executedAt }: RunOpLogEntry): LoggedOpWire {
  return {
    opId: writeId(opId),
    kind,
    ...(result.kind === "RegisteredShards" ? { shards: result.shards.map(writeId) } : {}),
    payloadHash: writeId(payloadHash),
    executedAt: executedAt.toString(),
  };
}
