import type { Cli } from "./cli.ts";
import type { ExitName } from "./output/exit-codes.ts";

export interface StopSignal {
  /** Fires at the first Ctrl-C, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /** How the command ends if it was stopped. `undefined` otherwise. */
  readonly exit: ExitName | undefined;
  dispose(): void;
}

/**
 * Turn the first Ctrl-C, SIGTERM or SIGHUP into a request to stop, and the second into an immediate exit. A command with
 * `hangUp` goes on after SIGHUP.
 */
export function stopSignal(
  cli: Cli,
  on: { readonly first?: () => void; readonly second?: () => void; readonly hangUp?: () => void } = {},
): StopSignal {
  const controller = new AbortController();
  let exit: ExitName | undefined;
  const stop = (how: ExitName): void => {
    if (exit !== undefined) {
      on.second?.();
      return cli.exitNow(how);
    }
    exit = how;
    on.first?.();
    controller.abort();
  };
  const stopListening = [
    cli.onSignal("SIGINT", () => stop("Interrupted")),
    cli.onSignal("SIGTERM", () => stop("Terminated")),
    cli.onSignal("SIGHUP", on.hangUp ?? (() => stop("HungUp"))),
  ];
  return {
    signal: controller.signal,
    get exit() {
      return exit;
    },
    dispose() {
      for (const each of stopListening) each();
    },
  };
}
