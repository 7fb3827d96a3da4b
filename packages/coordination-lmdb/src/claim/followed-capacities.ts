import type { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import { CapacityHint, type RunMoment, type UpdateShardSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import type { RunAddress } from "@gossip/store-kit";
import { countFree, firstDeadline, hintAt, MAX_HINT_COUNT, starvedUntil, type Capacity } from "./claims.ts";
import { isNextInLine, type LastWrite } from "../engine/own-writes.ts";
import { claimDeadline } from "../layout/entry-key.ts";
import type { Rows } from "../engine/rows.ts";

/** Maximum number of runs whose capacity is kept. */
const MAX_KNOWN_RUNS = 256;

/**
 * A recount goes beyond the limit of a hint, so that hundreds of shards can be claimed before the next one. The first
 * count does not: if others write all the time, every count is the first.
 */
const MAX_RECOUNT = 2 * MAX_HINT_COUNT;

/** The capacity of a run, updated with our own writes. */
interface KnownRun {
  /** If not all were counted, at least this many are free. */
  freeCount: number;
  isAllCounted: boolean;
  firstDeadline: LogicalTime | undefined;
  isDeadlineKnown: boolean;
  readonly starvedUntil: bigint;
}

/** Updates of one transaction that has ended. */
export interface EndedUpdates {
  readonly sets: readonly UpdateShardSet[];
  /** Whether each set was committed. */
  readonly isMade: readonly boolean[];
  /** The number of the write, counted by `OwnWrites`. */
  readonly turn: number;
}

/**
 * The capacities of runs after our last commit.
 *
 * Every acquire, renewal and checkpoint returns one, and reading it from the indexes costs as much as the rest of a
 * write without its flush. So it is kept and updated with our own writes, most of which change nothing. All of it is
 * dropped as soon as another process has written, or we have written anything but updates of shards.
 */
export class FollowedCapacities {
  readonly #rows: Rows;
  /** By tenant and run: building a combined key for every commit would cost more. */
  readonly #runs = new Map<TenantId, Map<RunId, KnownRun>>();
  #count = 0;
  /** The write after which the capacities hold; `undefined` if the next write cannot be known to follow it. */
  #since: LastWrite | undefined;
  #moment: RunMoment | undefined;
  #hint: CapacityHint = CapacityHint.ZERO;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Updates the capacities after a transaction. `hintOf` is then valid until the event loop continues. */
  follow({ sets, isMade, turn }: EndedUpdates): void {
    this.#rows.refresh();
    this.#moment = undefined;
    const { last } = this.#rows.writes;
    const hasWritten = isMade.includes(true);
    if (hasWritten && this.#since !== undefined && isNextInLine(this.#since, last)) this.#move(sets, isMade);
    else this.#forget();
    // Only if the transaction wrote something, and no other write was queued since, is this the number of its commit.
    this.#since = hasWritten && last.turn === turn ? last : undefined;
  }

  /** The capacity that a set of that commit requested. */
  hintOf({ tenant, run, hintAt: now }: UpdateShardSet): CapacityHint | undefined {
    if (now === undefined) return undefined;
    // The previous set mostly has the same run and time: a batch forms within a millisecond or two.
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
      // A hint is advice. The write is committed and must be reported as such.
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

/** A shard left the claim index at a deadline. */
function leave(known: KnownRun, deadline: LogicalTime | undefined): void {
  if (deadline === undefined) return;
  if (deadline === 0n) known.freeCount--;
  // Another shard may have the same deadline, so the first one must be read again.
  else if (deadline === known.firstDeadline) known.isDeadlineKnown = false;
}

/** A shard entered the claim index at a deadline. */
function take(known: KnownRun, deadline: LogicalTime | undefined): void {
  if (deadline === undefined) return;
  if (deadline === 0n) known.freeCount++;
  else if (known.isDeadlineKnown && (known.firstDeadline === undefined || deadline < known.firstDeadline))
    known.firstDeadline = deadline;
}
