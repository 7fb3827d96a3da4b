import type { LogicalTime } from "@gossip/contracts";
import { adviceFor, waitUntil, type AnyCoordError } from "@gossip/coordination-errors";
import type { ErrorWire } from "../table/wire-types.ts";

/** The longest wait that is worth a number; a client asks again anyway. */
const MAX_WAIT_MS = 3_600_000n;

/** The JSON form of a coordination error: what `parseCoordError` reads, and what to do about it. */
export function writeCoordError(error: AnyCoordError, now: LogicalTime | undefined): ErrorWire {
  const until = now === undefined ? undefined : waitUntil(error);
  return {
    ...error.toJSON(),
    message: error.message,
    advice: adviceFor(error),
    ...(until === undefined ? {} : { retryAfterMs: waitMs(until, now!) }),
  };
}

function waitMs(until: LogicalTime, now: LogicalTime): number {
  const wait = until - now;
  return Number(wait < 0n ? 0n : wait > MAX_WAIT_MS ? MAX_WAIT_MS : wait);
}
