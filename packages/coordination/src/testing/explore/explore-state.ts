import {
  Cursor,
  LogicalTime,
  OpId,
  RunId,
  SHARD_OP_LOG_CAP,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import { assert, assertCount, unwrap } from "@gossip/stdx";
import { kernel } from "../../kernel/kernel.ts";
import type { Lease } from "../../records/lease.ts";
import type { RunRecord } from "../../records/run-record.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { KeyRange } from "../sim/invariants/check-coverage.ts";
import type { MutationStream } from "../sim/invariants/mutation-stream.ts";
import { MESSAGE_KINDS, type Message, type MessageKind } from "./message.ts";

/** The bounds of a world. Everything that can happen within them is explored. */
export interface ExploreBounds {
  /** The workers. */
  readonly workers: readonly ExploreWorker[];
  /** The number of requests of the operator. */
  readonly operatorRequests: number;
  /** The number of steps of time; a lease lasts two. */
  readonly ticks: number;
  /** No split that would result in more shards is requested. */
  readonly maxShards: number;
  /** The kinds of requests. */
  readonly menu: readonly MessageKind[];
  /** How often a shard may be acquired again without progress; unlimited by default. */
  readonly maxShardRetries?: number;
}

export interface ExploreWorker {
  /** The number of its requests. Delivering one again does not count. */
  readonly requests: number;
  /** How far its coordinator's clock is behind the time, in steps. */
  readonly clockLag: number;
}

/** A sender of requests: a worker, or, as the last, the operator. */
export interface ActorState {
  /** The last lease that it received for each shard, by shard. */
  readonly leases: readonly Lease[];
  /** The last requests it sent, the newest first. The network may deliver each of them at any time, or again. */
  readonly sent: readonly Message[];
  readonly requestCount: number;
}

/** Everything that decides what can happen next. Immutable: a move creates another. */
export interface ExploreState {
  readonly tick: number;
  /** `undefined` once it was deleted. */
  readonly run: RunRecord | undefined;
  /** By id. */
  readonly shards: readonly ShardRecord[];
  /** The last accepted mutation of each shard, in the order of `shards`. */
  readonly streams: readonly (MutationStream | undefined)[];
  readonly actors: readonly ActorState[];
}

export const TENANT: TenantId = /* @__PURE__ */ TenantId.fromBytes(/* @__PURE__ */ new Uint8Array(32).fill(1));
export const RUN: RunId = /* @__PURE__ */ RunId.fromRaw(1n);

const LEASE_TICKS = 2n;
const REGISTER_OP = /* @__PURE__ */ OpId.fromRaw(1n);

/** The ranges of the two shards of every world. They are adjacent, so that a range that grows is an overlap. */
export const REGISTERED: readonly KeyRange[] = [
  { start: Uint8Array.of(0x10), end: Uint8Array.of(0x20) },
  { start: Uint8Array.of(0x20), end: Uint8Array.of(0x30) },
];

/** With more, a log would evict entries, and a repeated operation could not be recognized. */
const MAX_REQUESTS = SHARD_OP_LOG_CAP;
const MAX_TICKS = 100;
const MAX_SHARDS = 16;

/** Throws unless a world can be explored. */
export function assertBounds(bounds: ExploreBounds): void {
  assert(
    typeof bounds === "object" && bounds !== null,
    () => `bounds of a world must be an object, got ${typeof bounds}`,
  );
  const { workers, operatorRequests, ticks, maxShards, menu } = bounds;
  assert(Array.isArray(workers) && workers.length > 0, "a world must have workers");
  for (const { requests, clockLag } of workers) {
    assertCount(requests, "requests of a worker", { min: 0, max: MAX_REQUESTS });
    assertCount(clockLag, "lag of a clock", { min: 0, max: MAX_TICKS });
  }
  assertCount(operatorRequests, "requests of the operator", { min: 0, max: MAX_REQUESTS });
  const total = workers.reduce((sum, { requests }) => sum + requests, operatorRequests);
  assertCount(total, "requests in all", { min: 0, max: MAX_REQUESTS });
  assertCount(ticks, "steps of time", { min: 0, max: MAX_TICKS });
  assertCount(maxShards, "most shards", { min: REGISTERED.length, max: MAX_SHARDS });
  assert(
    Array.isArray(menu) && menu.every((kind) => MESSAGE_KINDS.includes(kind)),
    `the menu must be of ${MESSAGE_KINDS.join(", ")}`,
  );
}

/** The initial world: an active run of two shards without leases. */
export function firstState(bounds: ExploreBounds): ExploreState {
  const now = LogicalTime.fromRaw(1n);
  const created = unwrap(
    kernel.createRunWithShards(
      { loaded: { kind: "Missing" } },
      {
        tenant: TENANT,
        run: RUN,
        config: { leaseDuration: LEASE_TICKS, maxShardRetries: bounds.maxShardRetries },
        opId: REGISTER_OP,
        shards: REGISTERED.map((range, index) => ({
          shard: ShardId.fromRaw(BigInt(index + 1)),
          spec: ShardSpec.withRange(range),
          cursor: Cursor.initial(),
        })),
      },
      now,
    ),
  );
  assert(created.writes?.kind === "PutRun", "a new run is written");
  const { run, created: shards } = created.writes;
  const idle: ActorState = { leases: [], sent: [], requestCount: 0 };
  return {
    tick: 0,
    run,
    shards,
    streams: shards.map(() => undefined),
    actors: [...bounds.workers.map(() => idle), idle],
  };
}

/** The clock of a worker's coordinator. It never shows less than 1, when the run was created. */
export function readClock(tick: number, lag: number): LogicalTime {
  return LogicalTime.fromRaw(BigInt(1 + Math.max(0, tick - lag)));
}

export function workerAt(index: number): WorkerId {
  return WorkerId.fromRaw(BigInt(index + 1));
}

/** An op id that no other request has. */
export function opIdFor(actor: number, requestCount: number): OpId {
  return OpId.fromRaw(BigInt((actor + 1) * 100 + requestCount));
}
