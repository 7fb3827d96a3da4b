import { turnEventLoop } from "./testing/manual-time.ts";

/** Never reached unless something is broken: what is waited for is a socket's doing, and the machine may be busy. */
const PATIENCE_MS = 60_000;

/** Turn the event loop until `condition` holds; fail where it never does. */
export async function until(condition: () => boolean): Promise<void> {
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > giveUpAtMs)
      throw new Error(`waited for something that did not come: ${condition.toString()}`);
    await turnEventLoop();
  }
}
