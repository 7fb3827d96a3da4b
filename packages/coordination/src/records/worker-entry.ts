import { LogicalTime, ShardId, type WorkerId } from "@gossip/contracts";
import { JsonReader } from "@gossip/contracts/internal";
import type { InfraError } from "@gossip/coordination-errors";
import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MAX_WORKER_TEXT_SIZE } from "./item-failure.ts";
import { noteKeyOfId, tryIdOfNoteKey } from "./note-id.ts";
import { boundText } from "./note-text.ts";
import { damagedNote, decodeNoteValue, encodeNoteValue } from "./note-value.ts";
import type { Note, NoteWrite } from "./note.ts";

/** Most shards that the registration of one worker names. The others are left out; `shardCount` counts them. */
export const MAX_REGISTERED_SHARDS = 64;

/** What a worker says about itself. *Addition.* */
export interface WorkerInfo {
  /** For people: unique enough to find the process. */
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  /** The version of the program. */
  readonly version: string;
  readonly startedAt: LogicalTime;
  /** The shards that it holds. */
  readonly shards: readonly ShardId[];
  /** Items processed since it started. */
  readonly itemCount: number;
  /** Recent items per second; `undefined` until there are two readings. */
  readonly itemsPerSecond?: number | undefined;
}

/** A worker in the registry of a run. Advisory: no rule of the protocol depends on it. *Addition.* */
export interface WorkerEntry extends WorkerInfo {
  readonly worker: WorkerId;
  /** How many shards it holds. `shards` names at most 64 of them. */
  readonly shardCount: number;
  readonly itemsPerSecond: number | undefined;
  /** When it last registered. */
  readonly at: LogicalTime;
  /** From this time on the entry no longer counts, unless the worker registers again. */
  readonly expiresAt: LogicalTime;
}

type StoredWorker = Omit<WorkerEntry, "worker">;

const readRate: JsonReader<number> = (json, field) =>
  typeof json === "number" ? ok(json) : err({ kind: "InvalidField", field, expected: "a number" });

const readStored: JsonReader<StoredWorker> = /* @__PURE__ */ JsonReader.object<StoredWorker>({
  name: JsonReader.text,
  host: JsonReader.text,
  pid: JsonReader.count,
  version: JsonReader.text,
  startedAt: JsonReader.u64,
  shards: /* @__PURE__ */ JsonReader.array<ShardId>(JsonReader.u64),
  shardCount: JsonReader.count,
  itemCount: JsonReader.count,
  itemsPerSecond: /* @__PURE__ */ JsonReader.optional(readRate),
  at: JsonReader.u64,
  expiresAt: JsonReader.u64,
});

/** When a worker registers, and for how long. */
export interface Registration {
  readonly worker: WorkerId;
  readonly at: LogicalTime;
  readonly expiresAt: LogicalTime;
}

/** The note of a worker. Throws on malformed input. */
export function noteOfWorker(info: WorkerInfo, { worker, at, expiresAt }: Registration): NoteWrite {
  assertObject(info, "info of a worker");
  const { name, host, pid, version, startedAt, shards, itemCount, itemsPerSecond } = info;
  assertCount(pid, "pid of a worker", { min: 0, max: Number.MAX_SAFE_INTEGER });
  assertCount(itemCount, "item count of a worker", { min: 0, max: Number.MAX_SAFE_INTEGER });
  assert(Array.isArray(shards), "shards of a worker must come in an array");
  assert(
    itemsPerSecond === undefined || (Number.isFinite(itemsPerSecond) && itemsPerSecond >= 0),
    "items per second of a worker must be a number from 0 on",
  );
  const document: StoredWorker = {
    name: boundText(name, "name of a worker", MAX_WORKER_TEXT_SIZE),
    host: boundText(host, "host of a worker", MAX_WORKER_TEXT_SIZE),
    pid,
    version: boundText(version, "version of a worker", MAX_WORKER_TEXT_SIZE),
    startedAt: LogicalTime.fromRaw(startedAt),
    shards: shards.slice(0, MAX_REGISTERED_SHARDS).map((shard) => ShardId.fromRaw(shard)),
    shardCount: shards.length,
    itemCount,
    itemsPerSecond,
    at,
    expiresAt,
  };
  return { space: "worker", key: noteKeyOfId(worker), value: encodeNoteValue(document) };
}

/** Removes the note of a worker that stops. */
export function removalOfWorker(worker: WorkerId): NoteWrite {
  return { space: "worker", key: noteKeyOfId(worker), value: undefined };
}

/** The worker in a note. */
export function workerOfNote({ key, value }: Note): Result<WorkerEntry, InfraError> {
  const worker = tryIdOfNoteKey<WorkerId>(key);
  if (worker === undefined) return err(damagedNote());
  const stored = decodeNoteValue(value, readStored);
  return stored.ok ? ok({ worker, ...stored.value }) : stored;
}

/** Whether an entry still counts at `now`. */
export function isWorkerLive({ expiresAt }: WorkerEntry, now: LogicalTime): boolean {
  return expiresAt > now;
}

/** Whether an entry expired so long ago that any process may remove it: clocks differ by less than a whole term. */
export function isWorkerForgotten({ at, expiresAt }: WorkerEntry, now: LogicalTime): boolean {
  return LogicalTime.saturatingAdd(expiresAt, expiresAt > at ? expiresAt - at : 0n) <= now;
}
