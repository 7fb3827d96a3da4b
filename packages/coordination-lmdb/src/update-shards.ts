import { CapacityHint, type CommitAnswer, type RunMoment, type UpdateShardSet } from "@gossip/coordination";
import { InvariantViolation } from "@gossip/stdx";
import { countFree, hintAt } from "./claims.ts";
import { RowKind, runKey, shardRecordKey } from "./keyspace.ts";
import { isMoved, placeKey } from "./place-key.ts";
import { nextVersion } from "./row-version.ts";
import type { Rows } from "./rows.ts";
import { assertOwn, encodeShards } from "./shard-rows.ts";

export const CONFLICT: CommitAnswer = Object.freeze({ kind: "Conflict" });

/** An update with everything that it takes, so that putting it down cannot fail half-way. */
interface PreparedUpdate {
  readonly headKey: Buffer;
  readonly headVersion: number | undefined;
  readonly key: Buffer;
  readonly version: number;
  readonly value: Uint8Array;
  readonly leftPlace: Buffer | undefined;
  readonly newPlace: Buffer | undefined;
}

/**
 * Make updates of shards: the hot path.
 *
 * They are put down as conditions and writes for the driver's thread. Nothing is read here: what changes in the
 * indexes follows from the record that the guard vouches for. So many updates cost one flush, and
 * no process holds the lock longer than the flush takes.
 */
export async function updateShards(rows: Rows, sets: readonly UpdateShardSet[]): Promise<CommitAnswer[]> {
  for (const set of sets) assertOwn(set, set.shard.after);
  const values = encodeShards(sets.map((set) => set.shard.after));
  const updates = sets.map((set, index) => prepare(set, values[index]!));
  const isMade = await putDown(rows, updates);
  const hints = new HintsOfCommit(rows);
  return sets.map((set, index) => {
    const update = updates[index];
    if (update === undefined || isMade[index] !== true) return CONFLICT;
    return { kind: "Committed", version: nextVersion(update.version), hint: hints.of(set) };
  });
}

function prepare(set: UpdateShardSet, value: Uint8Array): PreparedUpdate | undefined {
  const { shard, runGuard } = set;
  const { before, after, guard } = shard;
  // A version that we never gave out is not the one that is stored.
  if (typeof guard !== "number" || (runGuard !== undefined && typeof runGuard !== "number")) return undefined;
  const hasMoved = isMoved(before, after);
  return {
    headKey: runKey(RowKind.RunHead, set),
    headVersion: runGuard,
    key: shardRecordKey(set, after.shard),
    version: guard,
    value,
    leftPlace: hasMoved ? placeKey(set, before) : undefined,
    newPlace: hasMoved ? placeKey(set, after) : undefined,
  };
}

/** Whether each of them was made. Settles when the transaction is over, for better or worse. */
async function putDown(rows: Rows, updates: readonly (PreparedUpdate | undefined)[]): Promise<boolean[]> {
  const isMade: Promise<boolean>[] = [];
  // Each condition has a promise of its own, and a failed transaction rejects them all: none may go unheard.
  const heard: Promise<boolean>[] = [];
  const all = rows.together(() => {
    for (const update of updates) {
      if (update === undefined) {
        isMade.push(Promise.resolve(false));
        continue;
      }
      // The run's row also keeps a shard from being written whose run was removed and whose row is not yet swept away.
      const hasRun = rows.ifVersion(update.headKey, update.headVersion, () => isMade.push(putUpdate(rows, update)));
      heard.push(hasRun);
    }
  });
  const outcomes = await Promise.allSettled([all, ...heard, ...isMade]);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return Promise.all(isMade);
}

function putUpdate(rows: Rows, { key, version, value, leftPlace, newPlace }: PreparedUpdate): Promise<boolean> {
  return rows.ifVersion(key, version, () => {
    rows.put(key, value, nextVersion(version));
    if (leftPlace !== undefined) rows.remove(leftPlace);
    if (newPlace !== undefined) rows.put(newPlace);
  });
}

/** The capacities of runs after a commit. What takes time to count is counted once a run, however many sets ask. */
class HintsOfCommit {
  readonly #rows: Rows;
  readonly #freeCounts = new Map<string, number>();

  constructor(rows: Rows) {
    this.#rows = rows;
    rows.refresh();
  }

  of({ tenant, run, hintAt: now }: UpdateShardSet): CapacityHint | undefined {
    return now === undefined ? undefined : this.#find({ tenant, run, now });
  }

  #find(moment: RunMoment): CapacityHint {
    const name = `${moment.run} ${moment.tenant}`;
    try {
      const freeCount = this.#freeCounts.get(name) ?? countFree(this.#rows, moment);
      this.#freeCounts.set(name, freeCount);
      return hintAt(this.#rows, moment, freeCount);
    } catch (reason) {
      if (reason instanceof InvariantViolation) throw reason;
      // Advice. The write is made, and must be answered so.
      return CapacityHint.ZERO;
    }
  }
}
