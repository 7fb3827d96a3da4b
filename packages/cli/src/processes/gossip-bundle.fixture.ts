// The command and all that it imports in a few files that plain Node starts in no time. They are made from the sources
// at hand, so they cannot be stale, and once a test run, so that every test may start many processes.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";

const CONDITIONS = ["@gossip/source", "node"];
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Native code, or code that looks for its files: it stays where it is installed.
export const OUTSIDE: Readonly<Record<"lmdb" | "pg", string>> = {
  lmdb: at("../../../coordination-lmdb/node_modules/lmdb/node-index.js"),
  pg: at("../../../coordination-postgres/node_modules/pg/esm/index.mjs"),
};

const stayOutside: Plugin = {
  name: "stay-outside",
  enforce: "pre",
  resolveId: (id) => (id === "lmdb" || id === "pg" ? { id: OUTSIDE[id], external: "absolute" } : undefined),
};

/** The page of the console stays where it is built: the bundle has no `dist` beside it. */
const consoleFolder: Plugin = {
  name: "console-folder",
  load: (id) =>
    id.endsWith("/console/src/files-folder.ts")
      ? `export const FILES_FOLDER = new URL(${JSON.stringify(pathToFileURL(at("../../../console/dist/app/")).href)});`
      : undefined,
};

const LOOK_MS = 50;

let made: Promise<string> | undefined;

/** The script that is the command. */
export function gossipScript(): Promise<string> {
  made ??= bundle();
  return made;
}

/** Remove it, unless the whole test run shares it. */
export async function removeGossipScript(): Promise<void> {
  if (made !== undefined && sharedFolder() === undefined)
    await rm(join(await made, ".."), { recursive: true, force: true });
  made = undefined;
}

/** Where the test run keeps its bundle. `share-bundle.fixture.ts` says so, and removes it. */
function sharedFolder(): string | undefined {
  return process.env["GOSSIP_TEST_BUNDLE"];
}

async function bundle(): Promise<string> {
  const shared = sharedFolder();
  if (shared === undefined) return bundleInto(at(`../../.cache/processes/${process.pid}-${randomUUID()}`));
  // Test files run beside each other. The first one bundles, the others wait until its folder has its name.
  try {
    await mkdir(`${shared}.making`);
    await bundleInto(`${shared}.new`);
    await rename(`${shared}.new`, shared);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    while (!existsSync(shared)) await sleep(LOOK_MS);
  }
  return join(shared, "gossip.mjs");
}

async function bundleInto(folder: string): Promise<string> {
  await build({
    configFile: false,
    envFile: false,
    logLevel: "error",
    plugins: [stayOutside, consoleFolder],
    resolve: { conditions: CONDITIONS },
    ssr: { noExternal: true, resolve: { conditions: CONDITIONS } },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: {
        input: {
          gossip: at("../bin/gossip.ts"),
          "keep-leases": at("../run/work/keep-leases.ts"),
          "keeper-thread": at("../../../worker/src/keeper/keeper-thread.ts"),
          "walk-process": at("../../../coordination-lmdb/src/inspect/walk-process.ts"),
        },
        // All beside each other, as the threads and processes that it starts look for them.
        output: { format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
      },
    },
  });
  return join(folder, "gossip.mjs");
}
