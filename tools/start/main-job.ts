// The main job as a person would run it, with one of its two workers killed half-way, and a check by other means.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compareSums, type SumsReport } from "./compare-sums.ts";
import { GossipProcess, type View } from "./gossip-process.ts";
import { hashWork } from "./hash-work.ts";

export interface MainJob {
  /** Every file below it is hashed. */
  readonly tree: string;
  /** A folder of its own is made here, and removed at the end. */
  readonly scratch: string;
  readonly print: (line: string) => void;
  /** Where the surviving worker draws its progress. */
  readonly view: View;
  /** How far the run is when a worker is killed. */
  readonly killAt?: number;
  /** What is done to each file, as options of `gossip run`. */
  readonly work?: readonly [option: string, value: string];
  /** Called when the worker that is to be killed is gone, while the other works. */
  readonly onVictimGone?: () => void;
}

/** How long a killed worker's shards are waited for. Short, because this is a demonstration. */
const LEASE_SECONDS = 3;
/** How a process ends that was stopped with Ctrl-C. */
const INTERRUPTED = 130;

/** Returns whether a worker was killed, and every file was hashed correctly and once. */
export async function showMainJob({
  tree,
  scratch,
  print,
  view,
  killAt = 0.3,
  work = hashWork(),
  onVictimGone,
}: MainJob): Promise<boolean> {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "start-"));
  const leaveNothing = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", leaveNothing);
  const stop = (): never => process.exit(INTERRUPTED);
  process.once("SIGINT", stop);
  try {
    const out = join(folder, "sums.ndjson");
    const store = join(folder, "store");
    const job = [
      "run",
      "--source",
      `fs:${tree}`,
      ...work,
      "--store",
      store,
      "--out",
      out,
      "--lease",
      String(LEASE_SECONDS),
      "--workers",
      "2",
    ];
    print(`$ gossip run --source 'fs:${tree}' ${work[0]} '${work[1]}' --out sums.ndjson`);
    print("");
    print(
      "Started twice: two processes share the work. One of them is killed on the way (kill -9), while it holds shards.",
    );
    print(`After ${LEASE_SECONDS} seconds its leases end, and the other process goes on where it was.`);
    mkdirSync(store);
    const page = new GossipProcess(["console", "--store", store, "--listen", "127.0.0.1:0", "--json"], "watch");
    const address = await page.address();
    if (address !== undefined) print(`Watch it in a browser while it runs: ${address}`);
    print("");

    const victim = new GossipProcess([...job, "--json"], "watch");
    const survivor = new GossipProcess(job, view);
    const victimItems = await victim.killedAt(killAt);
    onVictimGone?.();
    const code = await survivor.ended();
    await page.stop();
    print("");
    if (code !== 0) print(`The surviving worker ended with exit code ${code}.`);
    if (victimItems === undefined) print("The worker that was to be killed ended before it could be.");
    else
      print(
        `One worker was killed when ${victimItems.toLocaleString("en")} files were done. The other finished the run.`,
      );

    const report = await compareSums({ tree, out });
    printReport(report, print);
    return (
      code === 0 && victimItems !== undefined && report.missing + report.doubled + report.wrong + report.strange === 0
    );
  } finally {
    leaveNothing();
    process.off("exit", leaveNothing);
    process.off("SIGINT", stop);
  }
}

function printReport({ files, missing, doubled, wrong, strange }: SumsReport, print: (line: string) => void): void {
  const count = files.toLocaleString("en");
  print(
    `Walked and hashed again without Gossip: ${count} files. In the results: ${missing} missing, ${doubled} twice, ${wrong} wrong, ${strange} not in the tree.`,
  );
  print("All that this wrote was removed.");
}
