// The command and all that it imports in a few files that plain Node starts in no time. They are made from the sources
// at hand, so they cannot be stale, and once a test file, so that it may start many processes.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

let made: Promise<string> | undefined;

/** The script that is the command. */
export function gossipScript(): Promise<string> {
  made ??= bundle();
  return made;
}

export async function removeGossipScript(): Promise<void> {
  if (made !== undefined) await rm(join(await made, ".."), { recursive: true, force: true });
  made = undefined;
}

async function bundle(): Promise<string> {
  const folder = at(`../../.cache/processes/${process.pid}-${randomUUID()}`);
  await build({
    configFile: false,
    envFile: false,
    logLevel: "error",
    plugins: [stayOutside],
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
          "walk-process": at("../../../coordination-lmdb/src/walk-process.ts"),
        },
        // All beside each other, as the threads and processes that it starts look for them.
        output: { format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
      },
    },
  });
  return join(folder, "gossip.mjs");
}
