import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { CoreError } from "./core-error.ts";
import type { Epoch } from "./epoch.ts";
import { isPhysicalMs, MAX_GRANT_COUNT } from "./limits.ts";
import { Timestamp } from "./timestamp.ts";

/**
 * `count` timestamps that follow one another within one millisecond.
 *
 * Plain data: it survives a worker boundary. `tryMake` checks parts that did not come from an allocator.
 */
export interface WindowGrant {
  readonly physicalMs: number;
  readonly logicalStart: number;
  readonly count: number;
  /** The leadership that issued it. */
  readonly epoch: Epoch;
}

const COUNT_RULE = `a grant holds 1 to ${MAX_GRANT_COUNT} timestamps`;

export const WindowGrant = {
  /** Checks untrusted parts and makes a grant: the millisecond first, then the count, then the range. */
  tryMake(
    parts: WindowGrant,
  ): Result<WindowGrant, CoreError<"PhysicalMsOutOfRange" | "InvalidCount" | "LogicalRangeOutOfRange">> {
    assertObject(parts, "what a grant is made from");
    const { physicalMs, logicalStart, count, epoch } = parts;
    if (!isPhysicalMs(physicalMs)) return err({ kind: "PhysicalMsOutOfRange", physicalMs });
    if (!isGrantCount(count)) return err({ kind: "InvalidCount", count });
    if (!Number.isInteger(logicalStart) || logicalStart < 0 || logicalStart + count > MAX_GRANT_COUNT) {
      return err({ kind: "LogicalRangeOutOfRange", logicalStart, count });
    }
    return ok({ physicalMs, logicalStart, count, epoch });
  },

  first(grant: WindowGrant): Timestamp {
    assertObject(grant, "a grant");
    return Timestamp.pack({ physicalMs: grant.physicalMs, logical: grant.logicalStart });
  },

  last(grant: WindowGrant): Timestamp {
    assertObject(grant, "a grant");
    assert(isGrantCount(grant.count), COUNT_RULE);
    return Timestamp.pack({ physicalMs: grant.physicalMs, logical: grant.logicalStart + grant.count - 1 });
  },

  at(grant: WindowGrant, index: number): Timestamp {
    assertObject(grant, "a grant");
    assert(Number.isInteger(index) && index >= 0 && index < grant.count, "the index lies below the grant's count");
    return Timestamp.pack({ physicalMs: grant.physicalMs, logical: grant.logicalStart + index });
  },
} as const;

/** Whether a grant may hold `count` timestamps. */
export function isGrantCount(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= MAX_GRANT_COUNT;
}
