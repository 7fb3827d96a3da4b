// The console's page for tests, built from the sources at hand.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "vite";
import { CONSOLE_CONFIG, packageFolder, ROOT } from "../layers/layers.ts";

const LOOK_MS = 50;
/** A lock that is older was left by a process that died. */
const LOCK_STALE_MS = 60_000;

/** Build the page into `packages/console/dist/app`, unless it was built from the same sources. */
export async function buildConsole(): Promise<void> {
  const folder = packageFolder("console");
  const marker = join(folder, ".cache/app.sha256");
  const lock = join(folder, ".cache/app.building");
  const wanted = sourceHash(folder);
  mkdirSync(join(folder, ".cache"), { recursive: true });
  for (;;) {
    if (isBuilt(folder, marker, wanted)) return;
    try {
      mkdirSync(lock);
      break;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > LOCK_STALE_MS)
        rmSync(lock, { recursive: true, force: true });
      await sleep(LOOK_MS);
    }
  }
  try {
    await build({ configFile: join(ROOT, CONSOLE_CONFIG) });
    writeFileSync(marker, wanted);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function isBuilt(folder: string, marker: string, wanted: string): boolean {
  return (
    existsSync(join(folder, "dist/app/index.html")) && existsSync(marker) && readFileSync(marker, "utf8") === wanted
  );
}

function sourceHash(folder: string): string {
  const hash = createHash("sha256").update(readFileSync(join(folder, "vite.config.ts")));
  const files = readdirSync(join(folder, "src/app"), { recursive: true, encoding: "utf8" }).sort();
  for (const file of files) {
    const path = join(folder, "src/app", file);
    if (statSync(path).isFile() && !file.includes(".test.")) hash.update(file).update(readFileSync(path));
  }
  return hash.digest("hex");
}
