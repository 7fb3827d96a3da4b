import type { Command } from "commander";
import type { LogicalTime } from "@gossip/contracts";
import { WorkerId } from "@gossip/contracts";
import type { WorkerEntry } from "@gossip/coordination";
import { ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type StoreFlags } from "../cli.ts";
import { formatCount, formatDuration, formatRate } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { renderTable, type Column } from "../output/table.ts";
import { formatTime, timeJson } from "../output/time-text.ts";
import { readWorkers } from "../run/inspect/read-notes.ts";
import { withRun } from "./chosen-run.ts";

const COLUMNS: readonly Column[] = [
  { title: "WORKER", mayShrink: true },
  { title: "HOST", mayShrink: true },
  { title: "PID", isNumber: true },
  { title: "VERSION" },
  { title: "STARTED" },
  { title: "SEEN" },
  { title: "SHARDS", isNumber: true },
  { title: "ITEMS", isNumber: true },
  { title: "RATE", isNumber: true },
];

/** `gossip workers`: the processes that work on a run. */
export function registerWorkers(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "workers [run]",
    summary: "List the processes that work on a run",
    details:
      "Workers register while they work. One that was killed disappears after a while; its leases end by themselves.",
    examples: ["gossip workers", "gossip workers nightly --json"],
  }).action(
    acting(cli, (reference: string | undefined, flags: StoreFlags) =>
      withRun(cli, flags, reference, async ({ opened, request }) => {
        const workers = await readWorkers(opened, request);
        if (!workers.ok) return workers;
        const { console } = cli;
        if (console.isJson) for (const worker of workers.value) console.json(workerJson(worker));
        else if (workers.value.length === 0) console.note("No worker is registered with this run.");
        else {
          const now = await opened.clock.now();
          console.lines(
            renderTable(
              COLUMNS,
              workers.value.map((worker) => cellsOf(worker, now)),
              console.width,
            ),
          );
        }
        return ok("Ok");
      }),
    ),
  );
}

function cellsOf(worker: WorkerEntry, now: LogicalTime): string[] {
  return [
    printableText(worker.name),
    printableText(worker.host),
    String(worker.pid),
    printableText(worker.version),
    formatTime(worker.startedAt),
    `${formatDuration(Math.max(0, Number(now - worker.at)))} ago`,
    formatCount(worker.shardCount),
    formatCount(worker.itemCount),
    worker.itemsPerSecond === undefined ? "" : formatRate(worker.itemsPerSecond),
  ];
}

function workerJson({ worker, startedAt, at, expiresAt, ...rest }: WorkerEntry): object {
  return {
    worker: WorkerId.format(worker),
    ...rest,
    startedAt: timeJson(startedAt),
    at: timeJson(at),
    expiresAt: timeJson(expiresAt),
  };
}
