import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../layers/layers.ts";

const BIN = join(ROOT, "packages", "cli", "dist", "bin", "gossip.js");

/** `inherit`: a person sees it. `watch`: we read its progress. `ignore`: it is dropped. */
export type View = "inherit" | "watch" | "ignore";

/** One `gossip` command, from what was built. */
export class GossipProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | undefined>;

  constructor(args: readonly string[], view: View) {
    this.#child = spawn(process.execPath, [BIN, ...args], {
      stdio: ["ignore", view === "watch" ? "pipe" : view, view === "inherit" ? "inherit" : "ignore"],
    });
    this.#ended = once(this.#child, "exit").then(([code]: (number | null)[]) => code ?? undefined);
    const stop = (): boolean => this.#child.kill("SIGKILL");
    // First of all, so that nothing is written any more where others tidy up.
    process.prependOnceListener("exit", stop);
    void this.#ended.then(() => process.off("exit", stop));
  }

  ended(): Promise<number | undefined> {
    return this.#ended;
  }

  /** Stop it, and wait until it is gone. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }

  /** The address that `gossip console --json` prints. `undefined` if it ended before. */
  async address(): Promise<string | undefined> {
    for await (const line of createInterface({ input: this.#child.stdout! }))
      return (JSON.parse(line) as { readonly url: string }).url;
    return undefined;
  }

  /** Kill it when the run has come so far. Answers how many items were done by then, `undefined` when it ended before. */
  async killedAt(fraction: number): Promise<number | undefined> {
    for await (const line of createInterface({ input: this.#child.stdout! })) {
      const said = JSON.parse(line) as {
        readonly kind: string;
        readonly items: number;
        readonly fraction?: number;
        readonly held?: number;
      };
      if (said.kind !== "progress" || said.fraction === undefined || said.fraction < fraction || said.held === 0)
        continue;
      this.#child.kill("SIGKILL");
      await this.#ended;
      return said.items;
    }
    return undefined;
  }
}
