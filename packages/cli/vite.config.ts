import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const conditions = ["@gossip/source", "node"];

/** The console's page stays in its own package. A bundle has no page beside it. */
const consoleFolder: Plugin = {
  name: "console-folder",
  load: (id) =>
    id.endsWith("/console/src/files-folder.ts")
      ? `export const FILES_FOLDER = new URL("./dist/app/", import.meta.resolve("@gossip/console/package.json"));`
      : undefined,
};

// `vite build` writes the command to `dist/command`: our packages in a few files, because Node needs half a second to load
// seven hundred of them. npm's packages stay outside.
export default defineConfig({
  root: at("."),
  envDir: false,
  logLevel: "warn",
  plugins: [consoleFolder],
  resolve: { conditions },
  ssr: { noExternal: [/^@gossip\//], resolve: { conditions } },
  build: {
    ssr: true,
    outDir: at("dist/command"),
    emptyOutDir: true,
    minify: false,
    target: "node20",
    rolldownOptions: {
      input: {
        gossip: at("src/bin/gossip.ts"),
        "keep-leases": at("src/run/work/keep-leases.ts"),
        "keeper-thread": at("../worker/src/keeper/keeper-thread.ts"),
        "walk-process": at("../coordination-lmdb/src/inspect/walk-process.ts"),
      },
      // All beside each other, as the threads and processes that it starts look for them.
      output: { format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
    },
  },
});
