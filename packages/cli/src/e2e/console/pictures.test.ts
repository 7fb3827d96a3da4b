// The pictures of a run for the README and the guide: three processes, one of them killed, some items that fail.
import { existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browserSkipped } from "@gossip/tools/browser";
import { test } from "vitest";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { screenshot, TAKES_PICTURES } from "./screenshot.fixture.ts";

/** What the pictures show as the place of the work. It must not exist: it is removed afterwards. */
const DATA = "/data";
const PHOTOS = join(DATA, "photos");
const MODULE = join(DATA, "resize.mjs");
const [FOLDERS, FILES] = [30, 400];
const HEIGHT = 1_286;
const JOB = `
import { setTimeout as sleep } from "node:timers/promises";
let count = 0;
export default async function () {
  await sleep(60 + (count++ % 7) * 20);
  if (count % 350 === 7) throw new Error("the image ends unexpectedly");
}
`;

const skipped = browserSkipped() ?? (TAKES_PICTURES ? undefined : "GOSSIP_SCREENSHOTS=1 takes pictures");

test("a run in the middle of its work", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const hasData = existsSync(DATA);
  for (const path of [PHOTOS, MODULE]) if (existsSync(path)) throw new Error(`${path} exists: move it away first`);
  const world = await ConsoleWorld.start();
  try {
    for (let folder = 0; folder < FOLDERS; folder++) {
      mkdirSync(join(PHOTOS, `album-${String(folder).padStart(2, "0")}`), { recursive: true });
      for (let file = 0; file < FILES; file++)
        writeFileSync(
          join(PHOTOS, `album-${String(folder).padStart(2, "0")}`, `${String(file).padStart(4, "0")}.jpg`),
          "",
        );
    }
    writeFileSync(MODULE, JOB);
    const args = [
      "run",
      "resize-photos",
      "--source",
      `fs:${PHOTOS}`,
      "--module",
      MODULE,
      "--workers",
      "6",
      "--lease",
      "5",
      "--json",
    ];
    const workers = [await world.gossip(...args), await world.gossip(...args), await world.gossip(...args)];
    const page = await world.open("#/runs", { height: HEIGHT });
    await page.getByRole("link", { name: "resize-photos" }).click();
    await page.waitForTimeout(25_000);
    await workers[2]!.kill();
    // If it kept the history, another process goes on with it by now, and has what is missing.
    await page.waitForTimeout(26_000);
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(1_000);
      await screenshot(page, `watched-run-${theme}`);
    }
    for (const worker of workers) await worker.kill();
  } finally {
    await world.stop();
    rmSync(PHOTOS, { recursive: true, force: true });
    rmSync(MODULE, { force: true });
    if (!hasData) rmdirSync(DATA);
  }
});
