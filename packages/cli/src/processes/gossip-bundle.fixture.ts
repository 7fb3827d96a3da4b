// The command and all that it imports in a few files that plain Node starts in no time. They are made from the sources
// at hand, so they cannot be stale, and once a test run, so that every test may start many processes.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const LOOK_MS = 50;

let made: Promise<string> | undefined;

/** The script that is the command. */
export function gossipScript(): Promise<string> {
  made ??= bundle();
  return made;
}

/** Remove it, unless the whole test run shares it. */
export async function removeGossipScript(): Promise<void> {
  if (made !== undefined && sharedFolder() === undefined)
    await rm(join(await made, ".."), { recursive: true, force: true });
  made = undefined;
}

/** Where the test run keeps its bundle. `share-bundle.fixture.ts` says so, and removes it. */
function sharedFolder(): string | undefined {
  return process.env["GOSSIP_TEST_BUNDLE"];
}

async function bundle(): Promise<string> {
  const shared = sharedFolder();
  if (shared === undefined) return bundleInto(at(`../../.cache/processes/${process.pid}-${randomUUID()}`));
  // Test files run beside each other. The first one bundles, the others wait until its folder has its name.
  try {
    await mkdir(`${shared}.making`);
    await bundleInto(`${shared}.new`);
    await rename(`${shared}.new`, shared);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    while (!existsSync(shared)) await sleep(LOOK_MS);
  }
  return join(shared, "gossip.mjs");
}

async function bundleInto(folder: string): Promise<string> {
  await build({
    configFile: at("../../vite.config.ts"),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: false },
  });
  return join(folder, "gossip.mjs");
}
