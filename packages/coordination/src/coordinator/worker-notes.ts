import { LogicalTime, U64_MAX, type ShardKey, type TenantId, type WorkerId } from "@gossip/contracts";
import type { GetRunError } from "@gossip/coordination-errors";
import { assert, assertBytes, ok, type Result } from "@gossip/stdx";
import { noteKeyOfId } from "../records/note-id.ts";
import { noteKeyAfter } from "../records/note.ts";
import { parkedOfNote, type ParkedDetail } from "../records/parked-detail.ts";
import { markerOfNote, noteOfMarker, type ShardMarker } from "../records/shard-marker.ts";
import {
  isWorkerForgotten,
  isWorkerLive,
  noteOfWorker,
  removalOfWorker,
  workerOfNote,
  type WorkerEntry,
  type WorkerInfo,
} from "../records/worker-entry.ts";
import type { Page } from "../store/store-reads.ts";
import { MAX_PAGE_SIZE } from "./assert-command.ts";
import type { Engine } from "./engine.ts";
import { listNotes, writeNotes, type NoteListing } from "./notes.ts";
import type { RunRequest, ShardRequest } from "./queries.ts";
import type { LeasedRequest } from "./shard-requests.ts";

export interface WorkerRequest extends RunRequest {
  readonly worker: WorkerId;
}

export interface RegisterWorkerRequest extends WorkerRequest {
  readonly info: WorkerInfo;
  /** How long the entry stays unless the worker registers again, in units of the clock. */
  readonly ttl: bigint;
}

export interface ListWorkersRequest extends RunRequest {
  /** Most workers to return: 100 by default. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: Uint8Array | undefined;
}

export interface PutMarkerRequest extends LeasedRequest {
  /** The item that is about to be processed; `undefined` removes the marker. */
  readonly item: Uint8Array | undefined;
}

export async function registerWorker(
  engine: Engine,
  { tenant, run, worker, info, ttl }: RegisterWorkerRequest,
): Promise<Result<void, GetRunError>> {
  assert(typeof ttl === "bigint" && ttl > 0n && ttl <= U64_MAX, "ttl must be a bigint from 1 to 2^64 - 1");
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  const expiresAt = LogicalTime.saturatingAdd(now.value, ttl);
  return writeNotes(engine, { tenant, run }, [noteOfWorker(info, { worker, at: now.value, expiresAt })]);
}

/** Remove a worker, and with it the entries of workers that ended without doing so. */
export async function unregisterWorker(
  engine: Engine,
  { tenant, run, worker }: WorkerRequest,
): Promise<Result<void, GetRunError>> {
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  const all = await listNotes(engine, { tenant, run, space: "worker", limit: MAX_PAGE_SIZE, parse: workerOfNote });
  if (!all.ok) return all;
  const forgotten = all.value.items.filter((entry) => isWorkerForgotten(entry, now.value) && entry.worker !== worker);
  const removed = [worker, ...forgotten.map((entry) => entry.worker)].slice(0, engine.maxNotesPerSet);
  return writeNotes(engine, { tenant, run }, removed.map(removalOfWorker));
}

export async function listWorkers(
  engine: Engine,
  { tenant, run, limit, after }: ListWorkersRequest,
): Promise<Result<Page<WorkerEntry, Uint8Array>, GetRunError>> {
  if (after !== undefined) assertBytes(after, "position in a list of workers");
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  const page = await listNotes(engine, { tenant, run, space: "worker", start: after, limit, parse: workerOfNote });
  if (!page.ok) return page;
  const { items, next } = page.value;
  return ok({ items: items.filter((entry) => isWorkerLive(entry, now.value)), next });
}

export async function putMarker(
  engine: Engine,
  { tenant, lease, item }: PutMarkerRequest,
): Promise<Result<void, GetRunError>> {
  const now = await engine.readClock("notes");
  if (!now.ok) return now;
  return writeNotes(engine, { tenant, run: lease.run }, [noteOfMarker(lease, item, now.value)]);
}

export function getMarker(
  engine: Engine,
  request: ShardRequest,
): Promise<Result<ShardMarker | undefined, GetRunError>> {
  return getNote(engine, request, { space: "marker", parse: markerOfNote });
}

export function getParkedDetail(
  engine: Engine,
  request: ShardRequest,
): Promise<Result<ParkedDetail | undefined, GetRunError>> {
  return getNote(engine, request, { space: "parked", parse: parkedOfNote });
}

/** The note of a shard in a space that is keyed by shard ids. */
async function getNote<T>(
  engine: Engine,
  { tenant, key }: { readonly tenant: TenantId; readonly key: ShardKey },
  { space, parse }: Pick<NoteListing<T>, "space" | "parse">,
): Promise<Result<T | undefined, GetRunError>> {
  const start = noteKeyOfId(key.shard);
  const listing = { tenant, run: key.run, space, start, end: noteKeyAfter(start), limit: 1, parse };
  const page = await listNotes(engine, listing);
  return page.ok ? ok(page.value.items[0]) : page;
}
