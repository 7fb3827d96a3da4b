import { MAX_KEY_SIZE, type FenceEpoch, type LogicalTime, type ShardId, type WorkerId } from "@gossip/contracts";
import type {
  BudgetGrant,
  FailureInput,
  ItemFailure,
  ParkDetailInput,
  ParkedDetail,
  RunSettings,
  ShardMarker,
  WorkerEntry,
  WorkerInfo,
} from "@gossip/coordination";
import type {
  DetailElement,
  FailureElement,
  FailureWire,
  GrantWire,
  MarkerWire,
  ParkedWire,
  SettingsWire,
  WorkerWire,
} from "../schema/notes.ts";
import { encodeBase64Url, textOf } from "./text.ts";
import type { WireReader } from "./wire-reader.ts";
import { writeId } from "./write-records.ts";

interface KeyWire {
  readonly key?: string;
  readonly key64?: string;
}

/** A key as `key` or `key64`. */
export function writeKey(bytes: Uint8Array | undefined): KeyWire {
  if (bytes === undefined) return {};
  const key = textOf(bytes);
  return key === undefined ? { key64: encodeBase64Url(bytes) } : { key };
}

/** A key, within its size, or `undefined` if there is none. */
export function readKey(read: WireReader, { key, key64 }: KeyWire, field: string): Uint8Array | undefined {
  const bytes = read.bytes(key, key64, field);
  if (bytes !== undefined && bytes.length > MAX_KEY_SIZE) read.fail(field, `a key of up to ${MAX_KEY_SIZE} bytes`);
  return bytes;
}

function readNeededKey(read: WireReader, wire: KeyWire, field: string): Uint8Array {
  const key = readKey(read, wire, field);
  if (key === undefined) read.fail(field, "a key");
  return key ?? new Uint8Array(0);
}

export function writeNewFailure({ key, attempts, reason, error, workerName }: FailureInput): FailureElement {
  return { ...writeKey(key), attempts, reason, error, ...(workerName === undefined ? {} : { workerName }) };
}

export function readNewFailure(read: WireReader, wire: FailureElement, field: string): FailureInput {
  const { attempts, reason, error, workerName } = wire;
  return { key: readNeededKey(read, wire, `${field}.key`), attempts, reason, error, workerName };
}

export function writeNewDetail({ item, attempts, error, workerName }: ParkDetailInput): DetailElement {
  return { ...writeKey(item), attempts, error, ...(workerName === undefined ? {} : { workerName }) };
}

export function readNewDetail(read: WireReader, wire: DetailElement, field: string): ParkDetailInput {
  const { attempts, error, workerName } = wire;
  const item = readKey(read, wire, `${field}.key`);
  return {
    attempts,
    error,
    ...(item === undefined ? {} : { item }),
    ...(workerName === undefined ? {} : { workerName }),
  };
}

export function writeFailure(failure: ItemFailure): FailureWire {
  const { key, attempts, reason, error, at, shard, worker, workerName } = failure;
  return {
    ...writeKey(key),
    attempts,
    reason,
    error,
    at: at.toString(),
    shard: writeId(shard),
    worker: writeId(worker),
    ...(workerName === undefined ? {} : { workerName }),
  };
}

export function readFailure(read: WireReader, wire: FailureWire): ItemFailure {
  const { attempts, reason, error, workerName } = wire;
  return {
    key: readNeededKey(read, wire, "key"),
    attempts,
    reason,
    error,
    at: read.u64<LogicalTime>(wire.at, "at"),
    shard: read.id<ShardId>(wire.shard),
    worker: read.id<WorkerId>(wire.worker),
    workerName,
  };
}

export function writeParked({ shard, item, attempts, error, at, worker, workerName }: ParkedDetail): ParkedWire {
  return {
    shard: writeId(shard),
    ...writeKey(item),
    attempts,
    error,
    at: at.toString(),
    worker: writeId(worker),
    ...(workerName === undefined ? {} : { workerName }),
  };
}

export function readParked(read: WireReader, wire: ParkedWire): ParkedDetail {
  const { attempts, error, workerName } = wire;
  return {
    shard: read.id<ShardId>(wire.shard),
    item: readKey(read, wire, "key"),
    attempts,
    error,
    at: read.u64<LogicalTime>(wire.at, "at"),
    worker: read.id<WorkerId>(wire.worker),
    workerName,
  };
}

type InfoWire = Omit<WorkerWire, "worker" | "shardCount" | "at" | "expiresAt">;

export function writeWorkerInfo(info: WorkerInfo): InfoWire {
  const { name, host, pid, version, startedAt, shards, itemCount, itemsPerSecond } = info;
  return {
    name,
    host,
    pid,
    version,
    startedAt: startedAt.toString(),
    shards: shards.map(writeId),
    itemCount,
    ...(itemsPerSecond === undefined ? {} : { itemsPerSecond }),
  };
}

export function readWorkerInfo(read: WireReader, wire: InfoWire): WorkerInfo {
  const { name, host, pid, version, itemCount, itemsPerSecond } = wire;
  return {
    name,
    host,
    pid,
    version,
    startedAt: read.u64<LogicalTime>(wire.startedAt, "startedAt"),
    shards: wire.shards.map((id) => read.id<ShardId>(id)),
    itemCount,
    ...(itemsPerSecond === undefined ? {} : { itemsPerSecond }),
  };
}

export function writeWorker(entry: WorkerEntry): WorkerWire {
  const { worker, shardCount, at, expiresAt } = entry;
  return {
    worker: writeId(worker),
    ...writeWorkerInfo(entry),
    shardCount,
    at: at.toString(),
    expiresAt: expiresAt.toString(),
  };
}

export function readWorker(read: WireReader, wire: WorkerWire): WorkerEntry {
  return {
    ...readWorkerInfo(read, wire),
    itemsPerSecond: wire.itemsPerSecond,
    worker: read.id<WorkerId>(wire.worker),
    shardCount: wire.shardCount,
    at: read.u64<LogicalTime>(wire.at, "at"),
    expiresAt: read.u64<LogicalTime>(wire.expiresAt, "expiresAt"),
  };
}

export function writeMarker({ item, worker, fence, at }: ShardMarker): MarkerWire {
  return { ...writeKey(item), worker: writeId(worker), fence: fence.toString(), at: at.toString() };
}

export function readMarker(read: WireReader, wire: MarkerWire, shard: ShardId): ShardMarker {
  return {
    shard,
    item: readNeededKey(read, wire, "key"),
    worker: read.id<WorkerId>(wire.worker),
    fence: read.u64<FenceEpoch>(wire.fence, "fence"),
    at: read.u64<LogicalTime>(wire.at, "at"),
  };
}

export function writeSettings({ pausedSince, ...rest }: RunSettings): SettingsWire {
  return { ...rest, ...(pausedSince === undefined ? {} : { pausedSince: pausedSince.toString() }) };
}

export function readSettings(read: WireReader, { pausedSince, ...rest }: SettingsWire) {
  const since = pausedSince === undefined ? undefined : read.u64<LogicalTime>(pausedSince, "pausedSince");
  return { ...rest, pausedSince: since } satisfies RunSettings;
}

export function writeGrant({ untilItemMs, ...rest }: BudgetGrant): GrantWire {
  return { ...rest, ...(untilItemMs === undefined ? {} : { untilItemMs }) };
}

export function readGrant({ untilItemMs, ...rest }: GrantWire): BudgetGrant {
  return { ...rest, untilItemMs };
}
