import type { Cursor, OpId, ShardSpec } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { Lease } from "../../records/lease.ts";
import type { WorkerSession } from "../../coordinator/coordinator-api.ts";
import type { ShardPlace } from "./invariants/violation.ts";
import type { SimActor } from "./sim-actor.ts";
import type { SimEvent } from "./sim-event.ts";

const MAX_HELD = 64;

/** A shard that a worker believes it holds, and what it believes of it. All of it may be wrong. */
export interface HeldShard {
  readonly lease: Lease;
  /** Present where the worker holds it by a session, which keeps a copy of the record. */
  readonly session: WorkerSession | undefined;
  readonly spec: ShardSpec;
  readonly cursor: Cursor;
}

/** A checkpoint that was accepted, to be made again. */
export interface PriorCheckpoint {
  readonly lease: Lease;
  readonly opId: OpId;
  readonly cursor: Cursor;
}

/** A worker: what it believes, and whether it does anything just now. */
export class SimWorker {
  readonly actor: SimActor;
  readonly #held = new Map<string, HeldShard>();
  readonly priorCheckpoints = new Map<string, PriorCheckpoint>();
  /** Does nothing until this step. */
  pausedUntilStep = 0;
  /** An operation is under way. */
  isBusy = false;
  /** Counts crashes: an answer that comes after one is not heard. */
  lives = 1;
  /** An operation that may or may not have been done, to be asked for again exactly as it was. */
  unresolved: (() => Promise<SimEvent>) | undefined;

  constructor(actor: SimActor) {
    this.actor = actor;
  }

  /** Oldest first. */
  get heldShards(): readonly HeldShard[] {
    return [...this.#held.values()];
  }

  held(place: ShardPlace): HeldShard | undefined {
    return this.#held.get(nameShard(place));
  }

  hold(shard: HeldShard): void {
    this.#held.set(nameShard(shard.lease), shard);
    assert(this.#held.size <= MAX_HELD, "a worker holds at most 64 shards");
  }

  /** No longer believe to hold a shard. Nothing happens where it was another lease that was believed in. */
  drop(lease: Lease): boolean {
    const name = nameShard(lease);
    if (this.#held.get(name)?.lease.fence !== lease.fence) return false;
    this.#held.delete(name);
    return true;
  }

  crash(): void {
    this.#held.clear();
    this.priorCheckpoints.clear();
    this.unresolved = undefined;
    this.isBusy = false;
    this.pausedUntilStep = 0;
    this.lives += 1;
    this.actor.restart();
  }
}

export function nameShard({ tenant, run, shard }: ShardPlace): string {
  return `${tenant}/${run}/${shard}`;
}
