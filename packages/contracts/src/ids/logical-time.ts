import type { Brand } from "@gossip/stdx";
import { u64Companion } from "./u64-companion.ts";
import { assertU64, U64_MAX } from "./u64.ts";

/**
 * A reading of the clock that leases are measured by. An unsigned 64-bit integer.
 *
 * A fleet reads it in milliseconds; nothing here depends on the unit. `ZERO` and `MAX` are never a reading: they mark a
 * clock that is not set and a deadline that never comes.
 */
export type LogicalTime = Brand<bigint, "LogicalTime">;

export const LogicalTime = {
  .../* @__PURE__ */ u64Companion<LogicalTime>("logical time"),

  ZERO: 0n as LogicalTime,
  MAX: U64_MAX as LogicalTime,

  /** `time + ticks`, or `undefined` if that no longer fits. */
  checkedAdd(time: LogicalTime, ticks: bigint): LogicalTime | undefined {
    assertU64(time, "logical time");
    assertU64(ticks, "ticks to add");
    const sum = time + ticks;
    return sum > U64_MAX ? undefined : (sum as LogicalTime);
  },

  /** `time + ticks`, or `MAX` if that no longer fits. */
  saturatingAdd(time: LogicalTime, ticks: bigint): LogicalTime {
    return LogicalTime.checkedAdd(time, ticks) ?? LogicalTime.MAX;
  },
} as const;
