// One of our TypeScript files and everything it imports as a single file that plain Node starts in no time. It is made from
// the sources at hand, so it cannot be stale, and once, so that a test may start many processes.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";

const CONDITIONS = ["@gossip/source", "node"];

export class Bundle {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, "main.mjs");
  }

  static async of(entry: URL): Promise<Bundle> {
    const folder = await mkdtemp(join(tmpdir(), "tso-bundle-"));
    await build({
      configFile: false,
      envFile: false,
      logLevel: "error",
      resolve: { conditions: CONDITIONS },
      ssr: { noExternal: true, resolve: { conditions: CONDITIONS } },
      build: {
        ssr: true,
        outDir: folder,
        emptyOutDir: false,
        minify: false,
        target: "node20",
        rolldownOptions: { input: { main: entry.pathname }, output: { format: "es", entryFileNames: "main.mjs" } },
      },
    });
    return new Bundle(folder);
  }

  async dispose(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
