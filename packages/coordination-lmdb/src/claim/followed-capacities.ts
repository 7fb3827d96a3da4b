import type { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import { CapacityHint, type RunMoment, type UpdateShardSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import type { RunAddress } from "@gossip/store-kit";
import { countFree, firstDeadline, hintAt, MAX_HINT_COUNT, starvedUntil, type Capacity } from "./claims.ts";
import { isNextInLine, type LastWrite } from "../engine/own-writes.ts";
import { claimDeadline } from "../layout/entry-key.ts";
import type { Rows } from "../engine/rows.ts";

/** Most runs whose capacity is kept. */
const MAX_KNOWN_RUNS = 256;

/**
 * What is counted again is counted further than a hint tells, so that hundreds of shards can be claimed before the next time. The first time it
 * is not: where others write all the time, every time is the first.
 */
const MAX_RECOUNT = 2 * MAX_HINT_COUNT;

/** A run's capacity, followed through our own writes. */
interface KnownRun {
  /** Where not all were counted, at least so many are free. */
  freeCount: number;
  isAllCounted: boolean;
  firstDeadline: LogicalTime | undefined;
  isDeadlineKnown: boolean;
  readonly starvedUntil: bigint;
}

/** Updates that were put down together, and what became of them. */
export interface EndedUpdates {
  readonly sets: readonly UpdateShardSet[];
  /** Of each. */
  readonly isMade: readonly boolean[];
  /** Which of our writes it was. */
  readonly turn: number;
}

/**
 * The capacities of runs, as they are after our last commit.
 *
 * Every acquire, renewal and checkpoint asks for one, and looking it up costs as much as all else that is done for a write, the
 * flush left out. So it is kept, and follows from commit to commit what our own updates move; most move
 * nothing. As soon as anybody else has written, or we have written anything else, all of it is forgotten.
 */
export class FollowedCapacities {
  readonly #rows: Rows;
  /** By tenant and run: a name made of both would be put together for every commit. */
  readonly #runs = new Map<TenantId, Map<RunId, KnownRun>>();
  #count = 0;
  /** The write behind which the runs are as they are known; `undefined` where the next cannot be told to follow it. */
  #since: LastWrite | undefined;
  #moment: RunMoment | undefined;
  #hint: CapacityHint = CapacityHint.ZERO;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Follow updates that are over. `hintOf` then tells how things are behind them, until the event loop goes on. */
  follow({ sets, isMade, turn }: EndedUpdates): void {
    this.#rows.refresh();
    this.#moment = undefined;
    const { last } = this.#rows.writes;
    const hasWritten = isMade.includes(true);
    if (hasWritten && this.#since !== undefined && isNextInLine(this.#since, last)) this.#move(sets, isMade);
    else this.#forget();
    // Only where it wrote something, and nothing was put down behind it, is the number that of its commit.
    this.#since = hasWritten && last.turn === turn ? last : undefined;
  }

  /** The capacity that a set of that commit asked for. */
  hintOf({ tenant, run, hintAt: now }: UpdateShardSet): CapacityHint | undefined {
    if (now === undefined) return undefined;
    // The one before is mostly of the same run and moment: a batch comes together within a millisecond or two.
    const last = this.#moment;
    if (last?.now !== now || last.run !== run || last.tenant !== tenant) {
      this.#moment = { tenant, run, now };
      this.#hint = this.#find(this.#moment);
    }
    return this.#hint;
  }

  #move(sets: readonly UpdateShardSet[], isMade: readonly boolean[]): void {
    let last: UpdateShardSet | undefined;
    let known: KnownRun | undefined;
    for (let index = 0; index < sets.length; index++) {
      const set = sets[index]!;
      const left = claimDeadline(set.shard.before);
      const taken = claimDeadline(set.shard.after);
      if (left === taken || isMade[index] !== true) continue;
      if (last?.run !== set.run || last.tenant !== set.tenant) known = this.#get(set);
      last = set;
      if (known === undefined) continue;
      leave(known, left);
      take(known, taken);
    }
  }

  #find(moment: RunMoment): CapacityHint {
    try {
      return hintAt(this.#rows, moment, this.#know(moment));
    } catch (reason) {
      if (reason instanceof InvariantViolation) throw reason;
      // Advice. The write is made, and must be answered so.
      return CapacityHint.ZERO;
    }
  }

  #know(address: RunAddress): Capacity {
    let known = this.#get(address);
    if (known === undefined) {
      const freeCount = countFree(this.#rows, address, MAX_HINT_COUNT);
      known = {
        freeCount,
        isAllCounted: freeCount < MAX_HINT_COUNT,
        firstDeadline: undefined,
        isDeadlineKnown: false,
        starvedUntil: starvedUntil(this.#rows, address),
      };
      this.#keep(address, known);
    }
    if (!known.isAllCounted && known.freeCount < MAX_HINT_COUNT) {
      known.freeCount = countFree(this.#rows, address, MAX_RECOUNT);
      known.isAllCounted = known.freeCount < MAX_RECOUNT;
    }
    if (!known.isDeadlineKnown) {
      known.firstDeadline = firstDeadline(this.#rows, address);
      known.isDeadlineKnown = true;
    }
    return known;
  }

  #get({ tenant, run }: RunAddress): KnownRun | undefined {
    return this.#runs.get(tenant)?.get(run);
  }

  #keep({ tenant, run }: RunAddress, known: KnownRun): void {
    if (this.#count >= MAX_KNOWN_RUNS) this.#forget();
    const runs = this.#runs.get(tenant) ?? new Map<RunId, KnownRun>();
    this.#runs.set(tenant, runs.set(run, known));
    this.#count++;
  }

  #forget(): void {
    this.#runs.clear();
    this.#count = 0;
  }
}

/** A shard is no longer in the claim index under a deadline. */
function leave(known: KnownRun, deadline: LogicalTime | undefined): void {
  if (deadline === undefined) return;
  if (deadline === 0n) known.freeCount--;
  // Another may have the same. Who comes next must be looked up.
  else if (deadline === known.firstDeadline) known.isDeadlineKnown = false;
}

/** A shard is in the claim index under a deadline. */
function take(known: KnownRun, deadline: LogicalTime | undefined): void {
  if (deadline === undefined) return;
  if (deadline === 0n) known.freeCount++;
  else if (known.isDeadlineKnown && (known.firstDeadline === undefined || deadline < known.firstDeadline))
    known.firstDeadline = deadline;
}
