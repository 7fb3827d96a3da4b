// `npm run dist`: writes the tarballs of a release to `dist/`. Nothing is published.
import { copyFileSync, mkdirSync, rmSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { ROOT } from "../layers/layers.ts";
import { copyTree } from "../packaging/copy-tree.ts";
import { packAll } from "../packaging/pack.ts";
import { bundleCommand, COMMAND, hasTar } from "./bundle-command.ts";

if (!(await hasTar())) {
  console.error("npm run dist needs the tar command.");
  process.exit(1);
}

const target = join(ROOT, "dist");
const copy = copyTree();
try {
  const tarballs = await packAll(copy);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const [name, tarball] of tarballs) {
    const written = join(target, basename(tarball));
    if (name === COMMAND) await bundleCommand(tarballs, written);
    else copyFileSync(tarball, written);
    console.log(`${relative(ROOT, written)}  ${Math.ceil(statSync(written).size / 1024)} KiB`);
  }
  console.log(
    `\nInstall the command with: npm install -g ./${relative(ROOT, join(target, basename(tarballs.get(COMMAND)!)))}`,
  );
} finally {
  rmSync(copy, { recursive: true, force: true });
}
