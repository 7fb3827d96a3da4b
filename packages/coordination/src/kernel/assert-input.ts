import { type LogicalTime } from "@gossip/contracts";
import { assertObject } from "@gossip/stdx/internal";
import { assertNow } from "./logical-now.ts";

/**
 * Throw unless a transition was given something that was read, something to do, and a time. Comes before every
 * other check of every transition.
 *
 * What the parts of a command are is looked at where they are used. A record is taken as it is.
 */
export function assertInput(loaded: unknown, command: unknown, now: LogicalTime): void {
  // A run that is not there is `undefined`.
  if (loaded !== undefined) assertObject(loaded, "what was read");
  assertObject(command, "command");
  assertNow(now);
}
