import { assert, err, ok, unwrap, type Brand, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { CoreError } from "./core-error.ts";
import { isPhysicalMs, LOGICAL_BITS, LOGICAL_MAX, TIMESTAMP_MAX } from "./limits.ts";

/**
 * A packed timestamp: `physicalMs * 2^18 + logical`, unsigned, 64 bits.
 *
 * The order of the integers is the order of issue, so consumers compare the raw value. The
 * integers are not dense: the rest of a millisecond is skipped when time moves on.
 */
export type Timestamp = Brand<bigint, "Timestamp">;

export interface TimestampParts {
  readonly physicalMs: number;
  readonly logical: number;
}

/** Text that is not sixteen lowercase hex digits. */
export interface MalformedTimestamp {
  readonly kind: "MalformedTimestamp";
}

const LOGICAL_SHIFT = BigInt(LOGICAL_BITS);
const LOGICAL_MASK = BigInt(LOGICAL_MAX);
const TEXT = /^[0-9a-f]{16}$/u;

export const Timestamp = {
  /** Pack parts that are already known to be in range. */
  pack(parts: TimestampParts): Timestamp {
    return unwrap(Timestamp.tryPack(parts));
  },

  /** Checks and packs untrusted parts. The physical part is checked first. */
  tryPack(parts: TimestampParts): Result<Timestamp, CoreError<"PhysicalMsOutOfRange" | "LogicalOutOfRange">> {
    assertObject(parts, "what a timestamp is packed from");
    const { physicalMs, logical } = parts;
    if (!isPhysicalMs(physicalMs)) return err({ kind: "PhysicalMsOutOfRange", physicalMs });
    if (!isLogical(logical)) return err({ kind: "LogicalOutOfRange", logical });
    return ok((timestampBase(physicalMs) | BigInt(logical)) as Timestamp);
  },

  /** Brand a raw integer. The caller vouches that an oracle issued it. */
  fromRaw(raw: bigint): Timestamp {
    assertTimestamp(raw);
    return raw as Timestamp;
  },

  physicalMs(timestamp: Timestamp): number {
    assertTimestamp(timestamp);
    return Number(timestamp >> LOGICAL_SHIFT);
  },

  logical(timestamp: Timestamp): number {
    assertTimestamp(timestamp);
    return Number(timestamp & LOGICAL_MASK);
  },

  /** Sixteen hex digits: sorts as text in the order of issue. */
  format(timestamp: Timestamp): string {
    assertTimestamp(timestamp);
    return timestamp.toString(16).padStart(16, "0");
  },

  /** What `format` wrote, and nothing else. */
  parse(text: string): Result<Timestamp, MalformedTimestamp> {
    if (typeof text !== "string" || !TEXT.test(text)) return err({ kind: "MalformedTimestamp" });
    return ok(BigInt(`0x${text}`) as Timestamp);
  },
} as const;

/** The first timestamp of a millisecond, for adding counters to. The millisecond must be in range. */
export function timestampBase(physicalMs: number): bigint {
  return BigInt(physicalMs) << LOGICAL_SHIFT;
}

function assertTimestamp(raw: bigint): void {
  assert(typeof raw === "bigint", "a timestamp is a bigint");
  assert(raw >= 0n && raw <= TIMESTAMP_MAX, "a timestamp fits in 64 bits");
}

function isLogical(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= LOGICAL_MAX;
}
