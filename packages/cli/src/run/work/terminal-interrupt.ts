import { spawn } from "node:child_process";

/**
 * Calls `onSignal` once, when the terminal interrupts this process, even if its event loop is blocked. Returns a function
 * that stops listening.
 *
 * Node delivers signals only through the event loop of the main thread. But a terminal sends Ctrl-C to every process of
 * its foreground group, so a child that does nothing ends by it. The child also ends with this process, because its
 * input does.
 */
export function onTerminalInterrupt(onSignal: () => void): () => void {
  const child = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
  child.once("exit", (_code, signal) => {
    if (signal === "SIGINT" || signal === "SIGTERM" || signal === "SIGHUP") onSignal();
  });
  // Without `cat`, Ctrl-C works as soon as the loop runs again.
  child.once("error", () => undefined);
  child.stdin.once("error", () => undefined);
  return () => {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  };
}
