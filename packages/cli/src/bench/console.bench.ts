// The console must answer within seconds, also for a run of ten thousand shards: its files are small, the first paint is
// early, and a frame of the keyspace strip is short.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { consoleFiles } from "@gossip/console";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { browserSkipped, openBrowser, type Browser, type Page } from "@gossip/tools/browser";
import { freePort } from "@gossip/tools/engines";
import { seedRun } from "../e2e/console/seed-run.fixture.ts";
import { BenchFolder, COMMAND, IS_SMOKE } from "./bench-command.fixture.ts";

const SHARDS = IS_SMOKE ? 500 : 10_000;
const FRAMES = IS_SMOKE ? 3 : 60;
const MOST_BYTES = 100_000;

let folder: BenchFolder;
let server: ChildProcess;
let store: LmdbStore;
let browser: Browser;
let page: Page;
let url: string;
const paints: number[] = [];
const frames: number[] = [];

if (browserSkipped() === undefined)
  compare(`the console, ${SHARDS} shards`, {
    async before() {
      folder = new BenchFolder();
      store = unwrap(await openLmdbStore({ path: `${folder.path}/store` }));
      const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
      await seedRun(coordinator, { run: 1n, shardCount: SHARDS });
      const port = await freePort();
      url = `http://127.0.0.1:${port}/console/#/runs/${"1".padStart(16, "0")}`;
      const args = [COMMAND, "console", "--store", "store", "--listen", `127.0.0.1:${port}`];
      server = spawn(process.execPath, args, { cwd: folder.path, stdio: ["ignore", "pipe", "inherit"] });
      await once(server.stdout!, "data");
      browser = await openBrowser();
      page = await browser.newPage();
    },
    async after() {
      await browser.close();
      server.kill();
      await once(server, "close");
      await store.close();
      folder.remove();
      report();
    },
    forms: { "first paint": firstPaint, frames: drawFrames },
    options: { rounds: 5, sampleMs: 1, warmMs: 1, measureHeap: false },
  });

/** Load the page anew, with nothing kept, until something is painted. */
async function firstPaint(): Promise<void> {
  await page.goto("about:blank");
  await page.goto(url);
  await page.getByText(/Table: [\d,]+ shards in/).waitFor();
  paints.push(await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
}

/** Move the pointer along the strip, one frame after the other. */
async function drawFrames(): Promise<void> {
  if (page.url() === "about:blank") await firstPaint();
  const taken = await page.evaluate<number[]>(`(async () => {
    const strip = document.querySelector("[aria-label^='Keyspace strip']");
    const box = strip.getBoundingClientRect();
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const taken = [];
    for (let count = 0; count < ${FRAMES}; count++) {
      const start = await frame();
      const clientX = box.left + (box.width * count) / ${FRAMES};
      strip.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY: box.top + 5, bubbles: true }));
      await frame();
      taken.push((await frame()) - start);
    }
    return taken;
  })()`);
  frames.push(...taken.map((ms) => ms / 2));
}

function report(): void {
  const bytes = [...consoleFiles().values()].reduce((sum, { gzip }) => sum + gzip.length, 0);
  process.stdout.write(
    `  ${bytes} bytes compressed (at most ${MOST_BYTES}), first paint ${median(paints).toFixed(0)} ms, frame ${median(frames).toFixed(1)} ms\n`,
  );
  assert(bytes > 0, "the console was not built");
  assert(
    bytes <= MOST_BYTES,
    () => `the console's files take ${bytes} bytes compressed, and ${MOST_BYTES} is the limit`,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
