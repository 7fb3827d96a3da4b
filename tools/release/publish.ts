// `npm run release`: publishes every package whose version the registry does not have. `release.yml` calls it.
//
// Provenance needs the address of the repository in every manifest. Only the machine that publishes knows it, so it is
// written there and not committed.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES, ROOT, packageFolder } from "../layers/layers.ts";

/** `owner/name`, as GitHub's runners set it. */
const repository = process.env["GITHUB_REPOSITORY"];

if (repository !== undefined) {
  for (const name of PACKAGES) {
    const path = join(packageFolder(name), "package.json");
    const manifest = JSON.parse(readFileSync(path, "utf8")) as object;
    const address = {
      type: "git",
      url: `git+https://github.com/${repository}.git`,
      directory: `packages/${name}`,
    };
    writeFileSync(path, `${JSON.stringify({ ...manifest, repository: address }, undefined, 2)}\n`);
  }
}
process.exit(spawnSync("changeset", ["publish"], { cwd: ROOT, stdio: "inherit" }).status ?? 1);
