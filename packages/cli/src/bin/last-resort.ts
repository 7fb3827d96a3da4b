import type { Cli } from "../cli.ts";
import { reportBug } from "../main.ts";

/** The events after which Node ends a process with a code of its own, unless there is a listener. */
export interface EndingProcess {
  on(event: "beforeExit", listener: () => void): unknown;
  on(event: "uncaughtException", listener: (thrown: unknown) => void): unknown;
}

/**
 * Make sure that the process ends with a code that is documented.
 *
 * Node ends with 13 if nothing is left to do and the program still awaits something, and prints whatever was thrown outside
 * of any call of ours, credentials included.
 */
export function guardEnd(process: EndingProcess, cli: Cli): void {
  process.on("beforeExit", () => {
    cli.console.note(
      "gossip: the command awaits a promise that never settles: if --module names a module, look for one there; else this is a defect of gossip, please report it.",
    );
    cli.exitNow("Bug");
  });
  process.on("uncaughtException", (thrown) => {
    reportBug(cli, thrown);
    cli.exitNow("Bug");
  });
}
