// `npm run site`: builds the packages' declarations if they are not there, and writes the site to `dist/site`.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { PACKAGES, ROOT } from "../layers/layers.ts";
import { buildSite } from "./build-site.ts";

const projects = PACKAGES.map((name) => `packages/${name}/tsconfig.build.json`);
const built = spawnSync("tsc", ["-b", ...projects], { cwd: ROOT, stdio: "inherit" });
if (built.status !== 0) {
  console.error("The packages could not be built, and the API reference is made from what is built; see above.");
  process.exit(1);
}
const { pages, sections } = buildSite(ROOT, join(ROOT, "dist/site"));
console.log(`${pages} pages, ${sections} sections. Open dist/site/index.html, or serve that folder.`);
