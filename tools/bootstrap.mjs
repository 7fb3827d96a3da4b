// `node tools/bootstrap.mjs SCRIPT [ARGS]`: installs the workspace if it is not
// installed as the lockfile says, then runs SCRIPT (TypeScript) with ARGS.
//
// This file runs before anything is installed, so it uses Node alone. It needs
// npm only to fetch pnpm, once; no global pnpm or corepack takes part.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`This is Node ${process.versions.node}: install Node 20.19 or newer.`);
  process.exit(1);
}

const root = resolve(import.meta.dirname, "..");
const marker = join(root, "node_modules", ".gossip-installed");
const localBin = join(root, "node_modules", ".bin");

const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const pnpmVersion = /^pnpm@([^+]+)/.exec(packageManager)[1];

ensureInstalled();
const [script, ...args] = process.argv.slice(2);
process.exit(runScript(script, args));

function ensureInstalled() {
  const wanted = fingerprint();
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;

  const refused = [root, join(root, "node_modules")].find((folder) => existsSync(folder) && !isWritable(folder));
  if (refused !== undefined) {
    console.error(
      `This user may not write to ${refused}, where packages are installed: clone the repository as this user.`,
    );
    process.exit(1);
  }

  const install = ["install", "--frozen-lockfile", "--prefer-offline"];
  const local = join(root, "node_modules", "pnpm", "bin", "pnpm.cjs");
  console.log("Installing packages (first time, or the lockfile changed) ...");
  const result = existsSync(local)
    ? spawnSync(process.execPath, [local, ...install], inherit())
    : spawnSync("npx", ["--yes", `pnpm@${pnpmVersion}`, ...install], {
        ...inherit(),
        shell: process.platform === "win32",
      });
  if (result.status !== 0) {
    if (result.error !== undefined) console.error(result.error.message);
    console.error("\nThe install failed; see above. It needs npm and its registry.");
    process.exit(1);
  }
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(marker, wanted);
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What an install depends on: a change of any of these means installing again. */
function fingerprint() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", "tools/package.json"])
    hash.update(readFileSync(join(root, file)));
  for (const folder of ["packages", "examples"]) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder)).sort()) {
      const manifest = join(root, folder, name, "package.json");
      if (existsSync(manifest)) hash.update(name).update(readFileSync(manifest));
    }
  }
  return hash.digest("hex");
}

function runScript(file, scriptArgs) {
  const env = {
    ...process.env,
    PATH: `${localBin}${delimiter}${process.env.PATH ?? ""}`,
    TURBO_TELEMETRY_DISABLED: "1",
  };
  const result = spawnSync(
    process.execPath,
    ["--expose-gc", "--import", "./tools/ts/register.mjs", file, ...scriptArgs],
    { ...inherit(), env },
  );
  return result.status ?? 1;
}

function inherit() {
  return { cwd: root, stdio: "inherit" };
}
