// The console must answer within seconds, also for a run of ten thousand shards: its files are small, the first paint is
// early, and a frame of the keyspace strip is short.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { consoleFiles } from "@gossip/console";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { figure } from "@gossip/tools/bench";
import { browserSkipped, openBrowser, type Page } from "@gossip/tools/browser";
import { freePort } from "@gossip/tools/engines";
import { seedRun } from "../e2e/console/seed-run.fixture.ts";
import { BenchFolder, COMMAND } from "./bench-command.fixture.ts";

const MOST_BYTES = 100_000;
const LOADS = 9;
const FRAMES = 60;

figure("the console: bytes, first paint and frames", async ({ isSmoke }) => {
  const bytes = [...consoleFiles().values()].reduce((sum, { gzip }) => sum + gzip.length, 0);
  const shards = isSmoke ? 500 : 10_000;
  const measured = browserSkipped() === undefined ? await measure(shards, isSmoke) : undefined;
  const isMissed = bytes === 0 || bytes > MOST_BYTES;
  return {
    note: "The files as they are sent, compressed. The first paint of the page of a run, with nothing kept, and the time between two frames while the pointer moves along its keyspace strip, both medians in Chromium without a graphics card.",
    columns: ["what", "value"],
    rows: [
      ["all files, bytes", bytes],
      [`first paint, ${shards} shards, ms`, measured === undefined ? "no browser" : Math.round(measured.paintMs)],
      [`frame, ${shards} shards, ms`, measured === undefined ? "no browser" : Number(measured.frameMs.toFixed(1))],
    ],
    verdicts: [{ sentence: `${bytes} bytes compressed, at most ${MOST_BYTES}`, isMissed, isUnclear: false }],
  };
});

interface Measured {
  readonly paintMs: number;
  readonly frameMs: number;
}

/** `gossip console` on a store with one run, in a browser. */
async function measure(shardCount: number, isSmoke: boolean): Promise<Measured> {
  const folder = new BenchFolder();
  const store = unwrap(await openLmdbStore({ path: `${folder.path}/store` }));
  await seedRun(new Coordinator({ store, clock: systemClock(Date.now) }), { run: 1n, shardCount });
  const port = await freePort();
  const args = [COMMAND, "console", "--store", "store", "--listen", `127.0.0.1:${port}`];
  const server = spawn(process.execPath, args, { cwd: folder.path, stdio: ["ignore", "pipe", "inherit"] });
  const browser = await openBrowser();
  try {
    await once(server.stdout, "data");
    const page = await browser.newPage();
    const url = `http://127.0.0.1:${port}/console/#/runs/${"1".padStart(16, "0")}`;
    const paints: number[] = [];
    for (let load = 0; load < (isSmoke ? 1 : LOADS); load++) paints.push(await firstPaint(page, url));
    return { paintMs: median(paints), frameMs: median(await frames(page, isSmoke ? 3 : FRAMES)) };
  } finally {
    await browser.close();
    server.kill();
    await once(server, "close");
    await store.close();
    folder.remove();
  }
}

/** Load the page anew until its strip is there. Returns when something was painted first, in milliseconds. */
async function firstPaint(page: Page, url: string): Promise<number> {
  await page.goto("about:blank");
  await page.goto(url);
  await page.getByText(/Table: [\d,]+ shards in/).waitFor();
  return page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime");
}

/** Move the pointer along the strip. Returns the milliseconds of each frame. */
async function frames(page: Page, count: number): Promise<number[]> {
  return page.evaluate<number[]>(`(async () => {
    const strip = document.querySelector("[aria-label^='Keyspace strip']");
    const box = strip.getBoundingClientRect();
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const taken = [];
    for (let at = 0; at < ${count}; at++) {
      const start = await frame();
      const clientX = box.left + (box.width * at) / ${count};
      strip.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY: box.top + 5, bubbles: true }));
      await frame();
      taken.push(((await frame()) - start) / 2);
    }
    return taken;
  })()`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
