import {
  Cursor,
  planSplitReplaceAtPoints,
  planSplitResidualAtPoint,
  ShardKey,
  type OpId,
  type ShardId,
  type WorkerId,
} from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import type { Lease } from "../../records/lease.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import { opIdFor, RUN, workerAt, type ExploreBounds, type ExploreState } from "./explore-state.ts";
import type { Interner } from "./interner.ts";
import { Memo } from "./memo.ts";
import type { LeasedMessage, Message } from "./message.ts";

/**
 * All requests that the actors of a world can make.
 *
 * A worker uses the last lease that it received, which may be stale. The shard's range and cursor are current when it
 * makes the request; they become outdated if the request is delivered late.
 */
export class RequestBook {
  readonly #bounds: ExploreBounds;
  readonly #interner: Interner;
  /** The same request to the same shard occurs in very many states. */
  readonly #known = new Memo<readonly Message[]>();

  constructor(bounds: ExploreBounds, interner: Interner) {
    this.#bounds = bounds;
    this.#interner = interner;
  }

  /** The requests that an actor can make next. */
  next({ shards, actors }: ExploreState, actor: number): readonly Message[] {
    const { requestCount, leases } = actors[actor]!;
    const { workers, operatorRequests, maxShards } = this.#bounds;
    const worker = workers[actor];
    if (requestCount >= (worker?.requests ?? operatorRequests)) return [];
    const opId = opIdFor(actor, requestCount);
    if (worker === undefined) {
      const parked = shards.filter(({ status }) => status === "Parked");
      const unparks = parked.flatMap(({ shard }) =>
        this.#recall(`u ${shard} ${opId}`, () => [unparkRequest(shard, opId)]),
      );
      return [...unparks, ...this.#recall(`r ${opId}`, () => runRequests(opId))];
    }
    const acquires = shards.flatMap(({ shard }) =>
      this.#recall(`a ${shard} ${opId}`, () => [acquireRequest(shard, opId, workerAt(actor))]),
    );
    const room = maxShards - shards.length;
    return [...acquires, ...leases.flatMap((lease) => this.#ofHolder(shards, { lease, opId, room }))];
  }

  #ofHolder(shards: readonly ShardRecord[], held: HolderRequest): readonly Message[] {
    const shard = shards.find((record) => record.shard === held.lease.shard);
    if (shard === undefined) return [];
    const key = `h ${this.#interner.lease(held.lease)} ${this.#interner.shard(shard)} ${held.opId} ${held.room}`;
    return this.#recall(key, () => holderRequests(shard, held));
  }

  #recall(key: string, make: () => readonly Message[]): readonly Message[] {
    return this.#known.recall(key, () => make().filter(({ kind }) => this.#bounds.menu.includes(kind)));
  }
}

interface HolderRequest {
  readonly lease: Lease;
  readonly opId: OpId;
  /** The number of shards that may still be created. */
  readonly room: number;
}

function acquireRequest(shard: ShardId, opId: OpId, worker: WorkerId): Message {
  return { kind: "Acquire", opId, key: ShardKey.of(RUN, shard), worker };
}

function unparkRequest(shard: ShardId, opId: OpId): Message {
  return { kind: "Unpark", opId, key: ShardKey.of(RUN, shard) };
}

function runRequests(opId: OpId): readonly Message[] {
  return [{ kind: "CompleteRun", opId }, { kind: "FailRun", opId }, { kind: "CancelRun", opId }, { kind: "DeleteRun" }];
}

function holderRequests(shard: ShardRecord, { lease, opId, room }: HolderRequest): LeasedMessage[] {
  const { first, middle, last } = placesIn(shard);
  const asked: LeasedMessage[] = [
    { kind: "Renew", lease },
    { kind: "Checkpoint", lease, opId, cursor: Cursor.withLastKey(first), renew: false },
    { kind: "Checkpoint", lease, opId, cursor: Cursor.withLastKey(middle), renew: true },
    { kind: "Complete", lease, opId, cursor: Cursor.withLastKey(last) },
    { kind: "Park", lease, opId, reason: "Poisoned" },
    { kind: "Release", lease, opId },
  ];
  return [...asked, ...splitRequests(shard, { lease, opId, room })];
}

function splitRequests({ spec, cursor }: ShardRecord, { lease, opId, room }: HolderRequest): LeasedMessage[] {
  const { middle } = placesIn({ spec });
  const asked: LeasedMessage[] = [];
  if (room >= 1) {
    withPlan(planSplitResidualAtPoint(spec, cursor, after(middle)), (plan) =>
      asked.push({ kind: "SplitResidual", lease, opId, plan }),
    );
  }
  if (room >= 2) {
    withPlan(planSplitReplaceAtPoints(spec, cursor, [after(middle)]), (plan) =>
      asked.push({ kind: "SplitReplace", lease, opId, plan }),
    );
  }
  return asked;
}

/** A range that is too narrow is not split. */
function withPlan<Plan>(planned: Result<Plan, unknown>, use: (plan: Plan) => void): void {
  if (planned.ok) use(planned.value);
}

/** Three keys of a shard's range. The last is no longer in it after a split. */
function placesIn({ spec }: Pick<ShardRecord, "spec">): Record<"first" | "middle" | "last", Uint8Array> {
  const start = spec.keyRangeStart[0]!;
  const end = spec.keyRangeEnd[0]!;
  return { first: Uint8Array.of(start), middle: Uint8Array.of((start + end - 1) >> 1), last: Uint8Array.of(end - 1) };
}

function after(key: Uint8Array): Uint8Array {
  return Uint8Array.of(key[0]! + 1);
}
