// `npm start`: builds the packages and runs the tour on what was built, as a user would have it.
import { spawnSync } from "node:child_process";
import { ROOT } from "../layers/layers.ts";

const built = spawnSync("turbo", ["run", "build", "--output-logs=errors-only"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
if (built.status !== 0) {
  console.error("The packages could not be built; `npx turbo run build` shows why.");
  process.exit(1);
}
const tour = spawnSync(process.execPath, ["--import", "./tools/ts/register.mjs", "examples/tour/main.ts"], { cwd: ROOT, stdio: "inherit" });
process.exit(tour.status ?? 1);
