// The built command, as a user starts it, in a folder that is made for a bench.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert } from "@gossip/stdx";

export const COMMAND: string = fileURLToPath(new URL("../../bin/gossip.js", import.meta.url));

/** Every form once, to see that it runs: then the sizes may be small. */
export const IS_SMOKE: boolean = process.argv.includes("--smoke");

export class BenchFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), "gossip-bench-"));

  /** Run the command to its end, on a store of its own. */
  async gossip(...args: string[]): Promise<void> {
    const store = join(mkdtempSync(join(this.path, "store-")), "store");
    await this.run(process.execPath, [COMMAND, "run", "--store", store, ...args]);
  }

  async run(file: string, args: readonly string[]): Promise<void> {
    let said = "";
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(file, args, { cwd: this.path, stdio: ["ignore", "ignore", "pipe"] });
      child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
      child.once("error", reject);
      child.once("close", resolve);
    });
    assert(code === 0, () => `${file} ended with ${String(code)}: ${said}`);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
