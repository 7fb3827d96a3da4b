// `npm run dist [-- PACKAGE ...]`: writes the tarballs of a release to `dist/`, and how to install the command, or the
// packages that are named. Nothing is published.
import { copyFileSync, mkdirSync, rmSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { PACKAGES, ROOT } from "../layers/layers.ts";
import { copyTree } from "../packaging/copy-tree.ts";
import { packAll } from "../packaging/pack.ts";
import { bundleCommand, COMMAND, hasTar } from "./bundle-command.ts";
import { neededLayers } from "./needed-layers.ts";

const wanted = process.argv.slice(2).map((name) => name.replace(/^@gossip\//, ""));
const unknown = wanted.filter((name) => !PACKAGES.includes(name));
if (unknown.length > 0) {
  console.error(`No package is called ${unknown.join(", ")}. The packages are: ${PACKAGES.join(", ")}.`);
  process.exit(2);
}
if (!(await hasTar())) {
  console.error("npm run dist needs the tar command.");
  process.exit(1);
}

const target = join(ROOT, "dist");
const copy = copyTree();
try {
  const tarballs = await packAll(copy);
  const written = (name: string): string => join(target, basename(tarballs.get(name)!));
  const shown = (name: string): string => `./${relative(ROOT, written(name))}`;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const [name, tarball] of tarballs) {
    if (name === COMMAND) await bundleCommand(tarballs, written(name));
    else copyFileSync(tarball, written(name));
    console.log(`${shown(name)}  ${Math.ceil(statSync(written(name)).size / 1024)} KiB`);
  }
  for (const name of wanted.filter((one) => one !== COMMAND)) {
    const files = [...neededLayers(name), name].map(shown).join(" ");
    console.log(`\nInstall @gossip/${name} and the layers below it with: npm install ${files}`);
  }
  if (wanted.length === 0 || wanted.includes(COMMAND))
    console.log(`\nInstall the command with: npm install -g ${shown(COMMAND)}`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
