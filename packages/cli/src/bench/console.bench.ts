// What it costs a run to be watched: the page of another process asks for everything that it shows, once a second.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { BenchFolder, COMMAND, IS_SMOKE } from "./bench-command.fixture.ts";

const ROWS = IS_SMOKE ? 2000 : 1_000_000;
const PATHS = ["", "/strip", "/history", "/heat", "/timeline", "/workers"];

let folder: BenchFolder;
let store: string;
let stopWatching: () => Promise<void>;

/** A store with a page that is open. */
async function watch(): Promise<void> {
  store = join(folder.path, "watched");
  mkdirSync(store);
  const args = ["console", "--store", store, "--listen", "127.0.0.1:0", "--json"];
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(chunk.toString()) as { readonly url: string };
  const asking = setInterval(() => void ask(url).catch(() => undefined), 1000);
  stopWatching = async () => {
    clearInterval(asking);
    child.kill("SIGKILL");
    await ended;
  };
}

/** What a page asks for when it shows a run. */
async function ask(url: string): Promise<void> {
  const get = async (path: string): Promise<unknown> => (await fetch(new URL(`../v1/console/${path}`, url))).json();
  const { tenant } = (await get("whoami")) as { readonly tenant?: string };
  if (tenant === undefined) return;
  const { runs } = (await get(`runs?status=Active&tenant=${tenant}`)) as {
    readonly runs: readonly { readonly run: string }[];
  };
  for (const { run } of runs) await Promise.all(PATHS.map((path) => get(`runs/${run}${path}?tenant=${tenant}`)));
}

const job = ["--source", "lines:rows", "--module", "./noop.mjs"];

compare(`gossip run, ${ROWS} rows, with and without a page that watches it`, {
  async before() {
    folder = new BenchFolder();
    writeFileSync(join(folder.path, "rows"), Array.from({ length: ROWS }, (_, index) => `row ${index}\n`).join(""));
    writeFileSync(join(folder.path, "noop.mjs"), "export default function () {}\n");
    await watch();
  },
  async after() {
    await stopWatching();
    folder.remove();
  },
  forms: {
    alone: () => folder.gossip(...job),
    watched: () => folder.run(process.execPath, [COMMAND, "run", "--store", store, "--again", ...job]),
  },
  bounds: [{ form: "watched", ratioAtMost: 1.02, toBestOf: ["alone"] }],
  options: { rounds: 5, sampleMs: 1, warmMs: 1, callsPerRun: ROWS, measureHeap: false },
});
