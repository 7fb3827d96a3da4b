// From sources to tarballs, in a copy of the tree: what was built before takes part only if it came along, and nothing is left
// behind.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_CONFIG, CONSOLE_CONFIG, PACKAGES, ROOT, readManifest } from "../layers/layers.ts";
import { runOrThrow } from "./run.ts";

/** Build and pack every package of the copy; package name to the path of its tarball. */
export async function packAll(copy: string): Promise<Map<string, string>> {
  const tarballs = join(copy, "tarballs");
  mkdirSync(tarballs);
  await runOrThrow(
    join(ROOT, "node_modules/.bin/tsc"),
    ["-b", ...PACKAGES.map((name) => `packages/${name}/tsconfig.build.json`)],
    copy,
  );
  for (const config of [CONSOLE_CONFIG, COMMAND_CONFIG])
    await runOrThrow(join(ROOT, "node_modules/.bin/vite"), ["build", "--config", config], copy);
  await runOrThrow(
    process.execPath,
    [
      join(ROOT, "node_modules/pnpm/bin/pnpm.cjs"),
      "--recursive",
      "--filter",
      "./packages/*",
      "pack",
      "--pack-destination",
      tarballs,
    ],
    copy,
  );
  return new Map(PACKAGES.map((name) => [name, join(tarballs, `gossip-${name}-${readManifest(name).version}.tgz`)]));
}
