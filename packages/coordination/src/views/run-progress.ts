import { toJsonSafe, type JsonSafe, type LogicalTime, type ShardStatus } from "@gossip/contracts";
import { assert, compareBytes } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { isLeasedAt, type ShardRecord } from "../records/shard-record.ts";
import { assertIterable } from "./assert-iterable.ts";

/**
 * The progress of a run: its shards by state.
 *
 * A snapshot. The numbers can move in either direction: an unparked shard is active again, and a new shard moves the
 * watermark back.
 */
export interface RunProgress {
  /** All shards, including those that splits created. */
  readonly total: number;
  readonly active: number;
  readonly done: number;
  readonly split: number;
  readonly parked: number;
  /** The active shards that are leased. */
  readonly leased: number;
  /** The least cursor key of an active shard; `undefined` if none has one. */
  readonly watermark: Uint8Array | undefined;
}

export interface RunProgressCompanion {
  readonly NONE: RunProgress;
  /** Count records. */
  of(records: Iterable<ShardRecord>, now: LogicalTime): RunProgress;
  /** Nothing is left to do. */
  isSettled(progress: RunProgress): boolean;
  /** Nothing is left to do, and nothing is parked. */
  isSuccess(progress: RunProgress): boolean;
  /** Something is parked. */
  hasFailures(progress: RunProgress): boolean;
  toJson(progress: RunProgress): JsonSafe<RunProgress>;
}

/** What the shards of a run say about ending it. Advice: the run's own status decides. */
export type RunVerdict = "StillActive" | "HasFailures" | "AllDone";

const FIELD_OF = { Active: "active", Done: "done", Split: "split", Parked: "parked" } as const satisfies Record<
  ShardStatus,
  keyof RunProgress
>;

export const RunProgress: RunProgressCompanion = {
  NONE: /* @__PURE__ */ Object.freeze({
    total: 0,
    active: 0,
    done: 0,
    split: 0,
    parked: 0,
    leased: 0,
    watermark: undefined,
  }),

  of(records, now) {
    const progress: { -readonly [Field in keyof RunProgress]: RunProgress[Field] } = { ...RunProgress.NONE };
    assertIterable(records, "list of shard records");
    for (const record of records) {
      assertObject(record, "shard record");
      progress.total++;
      progress[FIELD_OF[record.status]]++;
      if (record.status !== "Active") continue;
      if (isLeasedAt(record, now)) progress.leased++;
      progress.watermark = leastKey(progress.watermark, record.cursor.lastKey);
    }
    return progress;
  },

  isSettled(progress) {
    assertObject(progress, "run progress");
    return progress.active === 0;
  },

  isSuccess(progress) {
    assertObject(progress, "run progress");
    return progress.active === 0 && progress.parked === 0;
  },

  hasFailures(progress) {
    assertObject(progress, "run progress");
    return progress.parked > 0;
  },

  toJson(progress) {
    return toJsonSafe(progress);
  },
};

/** The lesser of two keys, either of which may be missing. */
export function leastKey(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareBytes(a, b) <= 0 ? a : b;
}

/** Whether a run can end, judged by its shards. Throws if it has none. */
export function evaluateRunTerminal(progress: RunProgress): RunVerdict {
  assertObject(progress, "run progress");
  assert(progress.total > 0, "a run without shards cannot be judged by them");
  if (progress.active > 0) return "StillActive";
  return progress.parked > 0 ? "HasFailures" : "AllDone";
}
