import type { LogicalTime } from "@gossip/contracts";

/** The latest time that a `Date` can hold. Logical times can be far later. */
const LATEST = 8_640_000_000_000_000n;

/** A coordinator's time in readable form, to the second. */
export function formatTime(time: LogicalTime): string {
  return timeJson(time)!
    .replace(/\.\d+Z$/, "Z")
    .replace("T", " ");
}

/** A time in ISO 8601, or in milliseconds if it is too late for a `Date`. */
export function timeJson(time: LogicalTime | undefined): string | undefined {
  if (time === undefined) return undefined;
  return time > LATEST ? `${time} ms` : new Date(Number(time)).toISOString();
}
