import type { Cursor, OpId, ShardSpec } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { Lease } from "../../records/lease.ts";
import type { WorkerSession } from "../../coordinator/coordinator-api.ts";
import type { ShardAddress } from "./invariants/violation.ts";
import type { SimActor } from "./sim-actor.ts";
import type { SimEvent } from "./sim-event.ts";

const MAX_HELD = 64;

/** A shard that a worker believes it holds, and what it knows about it. All of it may be outdated. */
export interface HeldShard {
  readonly lease: Lease;
  /** Set if the worker uses a session, which keeps a copy of the record. */
  readonly session: WorkerSession | undefined;
  readonly spec: ShardSpec;
  readonly cursor: Cursor;
}

/** An accepted checkpoint, to be repeated later. */
export interface PriorCheckpoint {
  readonly lease: Lease;
  readonly opId: OpId;
  readonly cursor: Cursor;
}

/** A worker: what it knows, and whether it is busy. */
export class SimWorker {
  readonly actor: SimActor;
  readonly #held = new Map<string, HeldShard>();
  readonly priorCheckpoints = new Map<string, PriorCheckpoint>();
  /** Paused until this step. */
  pausedUntilStep = 0;
  /** Whether an operation is in flight. */
  isBusy = false;
  /** Grows with every crash. Responses to an earlier life are ignored. */
  lives = 1;
  /** Repeats exactly the request whose outcome is unknown. */
  unresolved: (() => Promise<SimEvent>) | undefined;

  constructor(actor: SimActor) {
    this.actor = actor;
  }

  /** Oldest first. */
  get heldShards(): readonly HeldShard[] {
    return [...this.#held.values()];
  }

  held(address: ShardAddress): HeldShard | undefined {
    return this.#held.get(nameShard(address));
  }

  hold(shard: HeldShard): void {
    this.#held.set(nameShard(shard.lease), shard);
    assert(this.#held.size <= MAX_HELD, "a worker holds at most 64 shards");
  }

  /** Forgets a shard that the worker held with this lease. Does nothing if it holds the shard with another. */
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

export function nameShard({ tenant, run, shard }: ShardAddress): string {
  return `${tenant}/${run}/${shard}`;
}
