import type { ShardStatus } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { kernel as realKernel } from "../../kernel/kernel.ts";
import type { Lease } from "../../records/lease.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import { checkCoverage } from "../sim/invariants/check-coverage.ts";
import { addressOf } from "../sim/invariants/check-shard.ts";
import { checkSplit } from "../sim/invariants/check-split.ts";
import { checkStream } from "../sim/invariants/mutation-stream.ts";
import type { Violation } from "../sim/invariants/violation.ts";
import { deliverToShard, type Kernel, type ShardDelivery } from "./deliver.ts";
import { deliverToRun, type RunDelivery } from "./deliver-to-run.ts";
import {
  assertBounds,
  firstState,
  readClock,
  REGISTERED,
  RUN,
  TENANT,
  type ActorState,
  type ExploreBounds,
  type ExploreState,
} from "./explore-state.ts";
import { Interner } from "./interner.ts";
import { Memo } from "./memo.ts";
import { isRunMessage, shardOf, type Message, type RunMessage, type ShardMessage } from "./message.ts";
import { formatMove, movesFrom, withDelivery, withLease, withRequest, type Move } from "./moves.ts";
import { RequestBook } from "./requests.ts";

export interface ExploreOptions {
  readonly bounds: ExploreBounds;
  /** The protocol to explore. A faulty one shows what the explorer can find. */
  readonly kernel?: Kernel;
  /** Throws if the world has more states than this. */
  readonly maxStates?: number;
  /** Stops after this number of states. */
  readonly stopAfter?: number;
}

export interface ExploreReport {
  /** The number of distinct states. */
  readonly stateCount: number;
  /** The number of moves between states. */
  readonly moveCount: number;
  /** The number of moves from the start to the farthest state. */
  readonly depth: number;
  /** The results, with the number of distinct requests that had each: `Checkpoint Replayed` and so on. */
  readonly answers: ReadonlyMap<string, number>;
  /** The first violation, with a shortest trace that leads to it. */
  readonly failure: ExploreFailure | undefined;
}

export interface ExploreFailure {
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
}

const DEFAULT_MAX_STATES = 4_000_000;

/**
 * Visits every state that a small world can reach, and checks each of them against the rules.
 *
 * Two workers and an operator send requests; requests are delayed or duplicated, or their responses are lost; time
 * passes; a coordinator's clock is behind. All orders of these events within the bounds are tried on the real kernel.
 * The search is breadth first, so that the trace of a violation is a shortest one.
 */
export function explore(options: ExploreOptions): ExploreReport {
  return new Explorer(options).run();
}

interface Arrival {
  readonly state: ExploreState;
  readonly violations: readonly Violation[];
}

interface ShardArrival {
  readonly actor: number;
  readonly message: ShardMessage;
  readonly isHeard: boolean;
}

class Explorer {
  readonly #bounds: ExploreBounds;
  readonly #kernel: Kernel;
  readonly #maxStates: number;
  readonly #stopAfter: number;
  readonly #interner = new Interner();
  readonly #requests: RequestBook;
  readonly #states: ExploreState[] = [];
  readonly #seen = new Set<string>();
  /** The move and the state from which each state was first reached. */
  readonly #cameBy: { readonly from: number; readonly move: Move }[] = [];
  readonly #answers = new Map<string, number>();

  // The kernel is a pure function, so each request to a shard in one state is computed once. A shard has few states; the
  // world has many, because they combine.
  readonly #shardDeliveries = new Memo<ShardDelivery>();
  readonly #runDeliveries = new Memo<RunDelivery>();
  readonly #shardChecks = new Memo<readonly Violation[]>();
  readonly #actors = new Memo<ActorState>();

  constructor({ bounds, kernel = realKernel, maxStates = DEFAULT_MAX_STATES, stopAfter = Infinity }: ExploreOptions) {
    assertBounds(bounds);
    this.#bounds = bounds;
    this.#kernel = kernel;
    this.#maxStates = maxStates;
    this.#stopAfter = stopAfter;
    this.#requests = new RequestBook(bounds, this.#interner);
  }

  run(): ExploreReport {
    this.#visit(firstState(this.#bounds), undefined);
    let moveCount = 0;
    let depth = 0;
    let levelEnd = 1;
    for (let index = 0; index < Math.min(this.#states.length, this.#stopAfter); index++) {
      if (index === levelEnd) {
        depth += 1;
        levelEnd = this.#states.length;
      }
      assert(
        this.#states.length <= this.#maxStates,
        () => `the world has more than ${this.#maxStates} states: narrow its bounds`,
      );
      for (const move of movesFrom(this.#states[index]!, this.#requests, this.#bounds)) {
        moveCount += 1;
        const violations = this.#take(index, move);
        if (violations.length > 0)
          return this.#report({ moveCount, depth, failure: { violations, trace: this.#traceTo(index, move) } });
      }
    }
    return this.#report({ moveCount, depth, failure: undefined });
  }

  #report(found: Pick<ExploreReport, "moveCount" | "depth" | "failure">): ExploreReport {
    return { stateCount: this.#states.length, answers: this.#answers, ...found };
  }

  #take(from: number, move: Move): readonly Violation[] {
    try {
      const { state, violations } = this.#arrive(this.#states[from]!, move);
      return violations.length > 0 ? violations : this.#visit(state, { from, move });
    } catch (thrown) {
      return [{ kind: "Thrown", message: thrown instanceof Error ? thrown.message : String(thrown) }];
    }
  }

  /** Adds a state. It is checked only when it is new. */
  #visit(
    state: ExploreState,
    cameBy: { readonly from: number; readonly move: Move } | undefined,
  ): readonly Violation[] {
    const line = this.#interner.state(state);
    if (this.#seen.has(line)) return [];
    this.#seen.add(line);
    this.#states.push(state);
    if (cameBy !== undefined) this.#cameBy[this.#states.length - 1] = cameBy;
    const { run, shards } = state;
    return run === undefined ? [] : this.#shardChecks.recall(this.#interner.shards(shards), () => checkShards(shards));
  }

  #arrive(state: ExploreState, move: Move): Arrival {
    if (move.kind === "Tick") return { state: { ...state, tick: state.tick + 1 }, violations: [] };
    const { actor, message } = move;
    const isNew = move.kind === "Send" || move.isNew;
    const asked = isNew ? this.#withActor(state, actor, message) : state;
    if (move.kind === "Send") return { state: asked, violations: [] };
    return isRunMessage(message) ? this.#arriveAtRun(asked, message) : this.#arriveAtShard(asked, { ...move, message });
  }

  #arriveAtShard(state: ExploreState, { actor, message, isHeard }: ShardArrival): Arrival {
    const { tick, run, shards } = state;
    const index = shards.findIndex((record) => record.shard === shardOf(message));
    // A deleted run has nothing left to check.
    if (index < 0) return { state, violations: [] };
    const shard = shards[index]!;
    const now = readClock(tick, this.#bounds.workers[actor]?.clockLag ?? 0);
    const key = `${this.#interner.run(run)} ${this.#interner.shard(shard)} ${this.#interner.message(message)} ${now}`;
    const delivery = this.#shardDeliveries.recall(key, () => {
      const made = deliverToShard(this.#kernel, { run, shard, shards, message, now });
      this.#count(`${message.kind} ${made.answer}`);
      return made;
    });
    const { violations, lease, accepted } = delivery;
    const streams = accepted === undefined ? [] : checkStream(addressOf(shard), state.streams[index], accepted);
    const heard = lease !== undefined && isHeard ? this.#withActor(state, actor, lease) : state;
    return {
      state: { ...heard, ...withDelivery(state, delivery) },
      violations: streams.length > 0 ? [...violations, ...streams] : violations,
    };
  }

  #arriveAtRun(state: ExploreState, message: RunMessage): Arrival {
    const { run, shards, tick } = state;
    const now = readClock(tick, 0);
    const counts = { active: countIn(shards, "Active"), parked: countIn(shards, "Parked") };
    const key = `${this.#interner.run(run)} ${this.#interner.message(message)} ${now} ${counts.active} ${counts.parked}`;
    const delivery = this.#runDeliveries.recall(key, () => {
      const made = deliverToRun(this.#kernel, { run, counts, message, now });
      this.#count(`${message.kind} ${made.answer}`);
      return made;
    });
    const { violations, isDeleted } = delivery;
    return {
      state: isDeleted ? { ...state, run: undefined, shards: [], streams: [] } : { ...state, run: delivery.run },
      violations,
    };
  }

  /** The state after one actor has sent a message or received a lease. */
  #withActor(state: ExploreState, index: number, news: Message | Lease): ExploreState {
    const actor = state.actors[index]!;
    const isMessage = "kind" in news;
    const key = isMessage
      ? `${this.#interner.actor(actor)} m ${this.#interner.message(news)}`
      : `${this.#interner.actor(actor)} l ${this.#interner.lease(news)}`;
    const changed = this.#actors.recall(key, () => (isMessage ? withRequest(actor, news) : withLease(actor, news)));
    return { ...state, actors: state.actors.with(index, changed) };
  }

  #count(answer: string): void {
    this.#answers.set(answer, (this.#answers.get(answer) ?? 0) + 1);
  }

  #traceTo(index: number, last: Move): string[] {
    const moves = [last];
    for (let at = this.#cameBy[index]; at !== undefined; at = this.#cameBy[at.from]) moves.unshift(at.move);
    return moves.map(formatMove);
  }
}

function checkShards(shards: readonly ShardRecord[]): readonly Violation[] {
  const splits = shards.flatMap((shard) => checkSplit(shard, (id) => shards.find((other) => other.shard === id)));
  return [...splits, ...checkCoverage({ tenant: TENANT, run: RUN }, REGISTERED, shards)];
}

function countIn(shards: readonly ShardRecord[], status: ShardStatus): number {
  return shards.filter((shard) => shard.status === status).length;
}
