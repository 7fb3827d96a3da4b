import { SHARD_OP_LOG_CAP, type OpId, type ShardId } from "@gossip/contracts";
import { foldId } from "./fold-id.ts";
import { indexOfOp, type LoggedOp, type OpLog } from "./op-log.ts";

/** Shards that are worked on at the same time and whose places do not fall together. A power of two. */
const PLACE_COUNT = 512;

/** How often others may ask before a place is theirs. Where many shards share one, it is of use to one of them, and not to none. */
const PATIENCE = 16;

/**
 * The op ids of shards' logs that were looked into of late: of each id 32 bits, side by side.
 *
 * A full log is sixteen entries that were made at sixteen different times, and each points to its id. Looking for an id goes to 32
 * places in memory, most of which no cache holds any more when many shards are worked on, and every logged operation looks twice.
 * Here the ids of a log are one line of a cache. Those whose bits are alike are compared as ever.
 *
 * It has a place for each of the lower bits of a shard's id and keeps the log of one that came there. Whose it was does not matter,
 * since a log is a value: where the array is the same, so are its ids, and where it is not, the log itself is looked through. What is
 * known here thus only decides how long an answer takes. All places take 32 KB, and the logs that they keep from being
 * collected a megabyte.
 */
export class IdTable {
  readonly #logs: (OpLog<LoggedOp> | undefined)[] = Array.from({ length: PLACE_COUNT });
  readonly #bits = new Int32Array(PLACE_COUNT * SHARD_OP_LOG_CAP);
  /** How often others may still ask before a place is theirs. */
  readonly #patience = new Uint8Array(PLACE_COUNT);

  /** Where in the log of a shard an id is; -1 where it is not. */
  indexOf(log: OpLog<LoggedOp>, opId: OpId, shard: ShardId): number {
    // That of every shard that was only claimed: not worth a place.
    if (log.length === 0) return -1;
    if (!isFitting(log, opId, shard)) return indexOfOp(log, opId);
    const place = placeOf(shard);
    const start = place * SHARD_OP_LOG_CAP;
    if (this.#logs[place] !== log && !this.#learn(log, place)) return indexOfOp(log, opId);
    this.#patience[place] = PATIENCE;
    const bits = foldId(opId);
    for (let index = log.length - 1; index >= 0; index--) {
      if (this.#bits[start + index] === bits && log[index]!.opId === opId) return index;
    }
    return -1;
  }

  /**
   * Take note that `log` is what became of `known` when it was given one more entry, and forgot its oldest where it was full. That
   * it is must have been seen: entry for entry, the two are the same but for that.
   */
  follow(log: OpLog<LoggedOp>, known: OpLog<LoggedOp>, shard: ShardId): void {
    const last = log.length - 1;
    const { opId } = log[last]!;
    const place = isFitting(log, opId, shard) ? placeOf(shard) : -1;
    if (place < 0 || this.#logs[place] !== known) return;
    const start = place * SHARD_OP_LOG_CAP;
    const shift = known.length - last;
    if (shift > 0) for (let at = start; at < start + last; at++) this.#bits[at] = this.#bits[at + shift]!;
    this.#bits[start + last] = foldId(opId);
    this.#logs[place] = log;
  }

  /** Make a place that of `log`, where it is free or has been left alone for long enough, and all ids of the log are such. */
  #learn(log: OpLog<LoggedOp>, place: number): boolean {
    if (this.#patience[place]! > 0) {
      this.#patience[place]! -= 1;
      return false;
    }
    const start = place * SHARD_OP_LOG_CAP;
    // Until all of them are there: where one is not an id, the bits are of neither log.
    this.#logs[place] = undefined;
    for (let index = 0; index < log.length; index++) {
      const { opId } = log[index]!;
      if (typeof opId !== "bigint") return false;
      this.#bits[start + index] = foldId(opId);
    }
    this.#logs[place] = log;
    return true;
  }
}

/** Whether there is room for the log, and the rest is what its type says: no compiler looks at what a store has read. */
function isFitting(log: OpLog<LoggedOp>, opId: OpId, shard: ShardId): boolean {
  return log.length <= SHARD_OP_LOG_CAP && typeof opId === "bigint" && typeof shard === "bigint";
}

function placeOf(shard: ShardId): number {
  return foldId(shard) & (PLACE_COUNT - 1);
}

/** Shared by all that decides: one decision is made at a time and none waits. */
export const IDS: IdTable = /* @__PURE__ */ new IdTable();
