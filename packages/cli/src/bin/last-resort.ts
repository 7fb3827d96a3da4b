import type { Cli } from "../cli.ts";
import { reportBug } from "../main.ts";

/** The events after which Node ends a process with its own exit code, unless they have a listener. */
export interface EndingProcess {
  on(event: "beforeExit", listener: () => void): unknown;
  on(event: "uncaughtException", listener: (thrown: unknown) => void): unknown;
}

/**
 * Make sure that the process ends with a documented exit code.
 *
 * Node exits with 13 if nothing is left to do and the program still awaits a promise. It also prints uncaught errors,
 * including any credentials in them.
 */
export function guardEnd(process: EndingProcess, cli: Cli): void {
  process.on("beforeExit", () => {
    cli.console.note(
      "gossip: the command awaits a promise that never settles: if --module names a module, look for one there; else this is a defect of gossip, please report it.",
    );
    cli.exitNow("Bug");
  });
  let isEnding = false;
  process.on("uncaughtException", (thrown) => {
    if (isEnding) return;
    isEnding = true;
    reportBug(cli, thrown);
    cli.exitNow("Bug");
  });
}
