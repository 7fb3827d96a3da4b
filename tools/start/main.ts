// `npm start`: builds the packages and runs the main job on what was built, as a user would have it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { showMainJob } from "./main-job.ts";

console.log("Building the packages ...");
const built = spawnSync("turbo", ["run", "build", "--output-logs=errors-only"], {
  cwd: ROOT,
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8",
});
if (built.status !== 0) {
  console.error(built.stdout);
  console.error(
    `The packages could not be built; see above. If this user may not write to ${ROOT}, clone the repository as this user. If folders packages/*/dist were deleted, delete packages/*/.cache, too, and start again.`,
  );
  process.exit(1);
}

console.log("");
// What the install brought: a tree of ten thousand files that every machine has by now.
const isProven = await showMainJob({
  tree: join(ROOT, "node_modules", ".pnpm"),
  scratch: join(ROOT, ".cache"),
  print: (line) => console.log(line),
  view: "inherit",
});
if (isProven) console.log("\nTry it on files of yours: docs/guide/ten-minutes.md");
process.exit(isProven ? 0 : 1);
