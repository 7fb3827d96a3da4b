import type { LogicalTime } from "@gossip/contracts";

/** The latest moment that a `Date` can hold. Logical times go far beyond. */
const LATEST = 8_640_000_000_000_000n;

/** A coordinator's time as people write it, to the second. */
export function formatTime(time: LogicalTime): string {
  return timeJson(time)!
    .replace(/\.\d+Z$/, "Z")
    .replace("T", " ");
}

/** In full, as ISO 8601 has it; a number of milliseconds where no calendar reaches. */
export function timeJson(time: LogicalTime | undefined): string | undefined {
  if (time === undefined) return undefined;
  return time > LATEST ? `${time} ms` : new Date(Number(time)).toISOString();
}
