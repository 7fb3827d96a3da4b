// An operator leaves the console open all day, so the run that it shows must not get slower. The page of another process
// asks for everything that it shows, once a second, and follows the events.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "@gossip/tools/bench";
import { BenchFolder, COMMAND, IS_SMOKE } from "./bench-command.fixture.ts";

const ROWS = IS_SMOKE ? 2000 : 1_000_000;
const MOST = 1.02;
const EVERY_MS = 1000;
/** What the page of a run asks for. */
const PATHS = [
  "",
  "/strip?buckets=1000",
  "/history?step=1000",
  "/heat?keys=140&columns=240",
  "/timeline?",
  "/workers?",
  "/tree?limit=50",
  "/failures?limit=50",
];

let folder: BenchFolder;
let stopWatching: () => Promise<void>;

/** A run on a store that stays from round to round, so that both forms have the same history behind them. */
const runOn = (store: string): Promise<void> =>
  folder.run(process.execPath, [
    COMMAND,
    "run",
    "--store",
    join(folder.path, store),
    "--again",
    "--source",
    "lines:rows",
    "--module",
    "./noop.mjs",
  ]);

/** Open the console on a store, and a page of it. */
async function watch(store: string): Promise<void> {
  const args = ["console", "--store", store, "--listen", "127.0.0.1:0", "--json"];
  const server = spawn(process.execPath, [COMMAND, ...args], {
    cwd: folder.path,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(server, "close");
  const [chunk] = (await once(server.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(chunk.toString()) as { readonly url: string };
  const page = new Page(new URL("../v1/console/", url).href);
  await page.open();
  stopWatching = async () => {
    page.close();
    server.kill("SIGKILL");
    await ended;
  };
}

/** What a page asks a server for while it shows the runs that are active. */
class Page {
  readonly #base: string;
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  async open(): Promise<void> {
    const { tenant } = (await this.#get("whoami")) as { readonly tenant: string };
    const { signal } = this.#closed;
    const events = await fetch(`${this.#base}events?tenant=${tenant}`, { signal });
    void events.body!.pipeTo(new WritableStream()).catch(() => undefined);
    this.#timer = setInterval(() => void this.#look(tenant).catch(() => undefined), EVERY_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closed.abort();
  }

  async #look(tenant: string): Promise<void> {
    const { runs } = (await this.#get(`runs?status=Active&tenant=${tenant}`)) as {
      readonly runs: readonly { readonly run: string }[];
    };
    for (const { run } of runs)
      await Promise.all(
        PATHS.map((path) => this.#get(`runs/${run}${path}${path.includes("?") ? "&" : "?"}tenant=${tenant}`)),
      );
  }

  async #get(path: string): Promise<unknown> {
    return (await fetch(`${this.#base}${path}`, { signal: this.#closed.signal })).json();
  }
}

compare(`gossip run, ${ROWS} rows, with and without a page of the console that shows it`, {
  async before() {
    folder = new BenchFolder();
    writeFileSync(join(folder.path, "rows"), Array.from({ length: ROWS }, (_, index) => `row ${index}\n`).join(""));
    writeFileSync(join(folder.path, "noop.mjs"), "export default function () {}\n");
    for (const store of ["alone", "watched"]) mkdirSync(join(folder.path, store));
    // The first run of a store also makes the store, which the console wants to be there.
    for (const store of ["alone", "watched"]) await runOn(store);
    await watch("watched");
  },
  async after() {
    await stopWatching();
    folder.remove();
  },
  forms: { alone: () => runOn("alone"), watched: () => runOn("watched") },
  bounds: [{ form: "watched", ratioAtMost: MOST, toBestOf: ["alone"] }],
  options: { rounds: 7, sampleMs: 1, warmMs: 1, callsPerRun: ROWS, measureHeap: false },
});
