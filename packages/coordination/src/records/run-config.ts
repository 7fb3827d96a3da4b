import { CursorSemantics, U64_MAX } from "@gossip/contracts";
import type { RunConfigError } from "@gossip/coordination-errors";
import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** How a run works. It never changes. */
export interface RunConfig {
  /** What the workers of this run mean by a cursor. A label: nothing here depends on it. */
  readonly cursorSemantics: CursorSemantics;
  /** How long a lease lasts from an acquire or a renewal, in units of the clock. Never zero. */
  readonly leaseDuration: bigint;
  /**
   * How often a shard may be acquired again without progress. One more acquisition parks it with `TooManyErrors`.
   * Without a limit, shards are never parked for this reason.
   */
  readonly maxShardRetries: number | undefined;
}

/** The inputs of a configuration. `cursorSemantics` is `Completed` by default. */
export interface RunConfigInput {
  readonly leaseDuration: bigint;
  readonly cursorSemantics?: CursorSemantics;
  readonly maxShardRetries?: number | undefined;
}

export interface RunConfigCompanion {
  /** Refuses a duration of zero. Throws `InvariantViolation` if the value is not a duration. */
  tryNew(input: RunConfigInput): Result<RunConfig, RunConfigError>;
  equals(a: RunConfig, b: RunConfig): boolean;
}

const U32_MAX = 0xffff_ffff;

export const RunConfig: RunConfigCompanion = {
  tryNew(input) {
    assertObject(input, "run config");
    const { leaseDuration, cursorSemantics = "Completed", maxShardRetries } = input;
    assert(
      typeof leaseDuration === "bigint",
      () => `lease duration must be a bigint, got a value of type ${typeof leaseDuration}`,
    );
    assert(leaseDuration >= 0n && leaseDuration <= U64_MAX, "lease duration must be from 1 to 2^64 - 1");
    assert(CursorSemantics.is(cursorSemantics), "cursor semantics must be Completed or Dispatched");
    if (maxShardRetries !== undefined) assertCount(maxShardRetries, "max shard retries", { min: 0, max: U32_MAX });

    if (leaseDuration === 0n) return err({ kind: "ZeroLeaseDuration" });
    return ok(Object.freeze({ cursorSemantics, leaseDuration, maxShardRetries }));
  },

  equals(a, b) {
    assertObject(a, "run config");
    assertObject(b, "run config");
    return (
      a.cursorSemantics === b.cursorSemantics &&
      a.leaseDuration === b.leaseDuration &&
      a.maxShardRetries === b.maxShardRetries
    );
  },
};
