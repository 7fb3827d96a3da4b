import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Run the collector, which a test worker is not started with a way to do. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
