import { type LogicalTime } from "@gossip/contracts";
import { assertObject } from "@gossip/stdx/internal";
import { assertNow } from "./logical-now.ts";

/**
 * Throws unless the input of a transition is an object, a command and a time. Comes before every other check.
 *
 * The parts of a command are checked where they are used. Records are not checked.
 */
export function assertInput(loaded: unknown, command: unknown, now: LogicalTime): void {
  // A missing run is `undefined`.
  if (loaded !== undefined) assertObject(loaded, "what was read");
  assertObject(command, "command");
  assertNow(now);
}
