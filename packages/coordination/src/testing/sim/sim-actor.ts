import { LogicalTime, OpId, type Clock, type WorkerId } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import type { CoordinatorApi } from "../../coordinator/coordinator-api.ts";
import { Coordinator } from "../../coordinator/coordinator.ts";
import type { CoordinationStore } from "../../store/coordination-store.ts";
import type { ShardLimits } from "../../store/write-set.ts";
import { FaultInjectingStore } from "../fault-injecting-store.ts";
import type { FaultKind } from "./fault-level.ts";
import { SimConnection } from "./sim-connection.ts";
import type { SimScheduler } from "./sim-scheduler.ts";

/** The number of op ids of an actor. */
const OP_ID_RANGE = 1_000_000n;
/** Few, so that workers get errors and have to repeat requests themselves. */
const MAX_ATTEMPTS = 2;

/** The true time, which a correct clock shows. It never goes back. */
export class SimTime {
  #now = 0n;

  get now(): bigint {
    return this.#now;
  }

  advance(ticks: number): void {
    assert(ticks >= 0, "time only goes forward");
    this.#now += BigInt(ticks);
  }
}

/** A clock that is off by some ticks. It never shows less than 1, the earliest valid time. */
export class SkewedClock implements Clock {
  readonly #time: SimTime;
  skewTicks = 0;

  constructor(time: SimTime) {
    this.#time = time;
  }

  now(): LogicalTime {
    const shown = this.#time.now + BigInt(this.skewTicks);
    return LogicalTime.fromRaw(shown < 1n ? 1n : shown);
  }
}

/**
 * Puts something between an actor and its coordinator, such as a network. `disturb` must be called for everything that
 * goes wrong on the way, for any actor: answers are then allowed to be those of a repeated or late call.
 */
export type SimConnect = (
  coordinator: Coordinator,
  line: { readonly clock: Clock; readonly disturb: () => void },
) => CoordinatorApi;

export interface SimActorOptions {
  /** Also decides the actor's op ids. */
  readonly id: WorkerId;
  readonly time: SimTime;
  readonly scheduler: SimScheduler;
  readonly noteFault: (kind: FaultKind) => void;
  /** The shared store, as this actor reaches it without faults. */
  readonly store: CoordinationStore;
  /** Whether there are never any faults. A synchronous store is then used synchronously. */
  readonly isDirect: boolean;
  readonly limits: ShardLimits;
  readonly claimCooldown: bigint;
  readonly connect: SimConnect | undefined;
}

/**
 * A process: its own coordinator, clock and connection to the shared store.
 */
export class SimActor {
  readonly id: WorkerId;
  readonly clock: SkewedClock;
  readonly #options: SimActorOptions;
  #opCount = 0n;
  #connection: SimConnection;
  #coordinator: CoordinatorApi;

  constructor(options: SimActorOptions) {
    this.#options = options;
    this.id = options.id;
    this.clock = new SkewedClock(options.time);
    this.#connection = new SimConnection(options.scheduler, options.noteFault);
    this.#coordinator = this.#startCoordinator();
  }

  get coordinator(): CoordinatorApi {
    return this.#coordinator;
  }

  get connection(): SimConnection {
    return this.#connection;
  }

  nextOpId(): OpId {
    assert(this.#opCount < OP_ID_RANGE, "an actor has no more than a million op ids");
    return OpId.fromRaw(this.id * OP_ID_RANGE + this.#opCount++);
  }

  /**
   * Crashes and restarts. Requests in flight may still arrive, but their responses are lost, and so is the coordinator's
   * state. Op ids are not reused: a real process would draw them at random.
   */
  restart(): void {
    this.#connection.cut();
    this.#connection = new SimConnection(this.#options.scheduler, this.#options.noteFault);
    this.#coordinator = this.#startCoordinator();
  }

  #startCoordinator(): CoordinatorApi {
    const { scheduler, store, isDirect, limits, claimCooldown, connect } = this.#options;
    const connection = this.#connection;
    const coordinator = new Coordinator({
      store: isDirect ? store : new FaultInjectingStore(store, connection),
      clock: this.clock,
      limits,
      claimCooldown,
      // What goes through something else is waited for: the next step would never come.
      retry: {
        maxAttempts: MAX_ATTEMPTS,
        sleep: () => (connect === undefined ? scheduler.park(1) : Promise.resolve()),
      },
      newOpId: () => this.nextOpId(),
    });
    return connect?.(coordinator, { clock: this.clock, disturb: () => connection.disturb() }) ?? coordinator;
  }
}
