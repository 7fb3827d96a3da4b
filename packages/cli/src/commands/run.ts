import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { Option, type Command } from "commander";
import { RunId, WorkerId } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import { acting, addStoreCommand, readStoreFlags, type Cli, type CommandResult, type StoreSettings } from "../cli.ts";
import { commandEnvironment } from "../exec/command-environment.ts";
import type { CliError } from "../output/cli-error.ts";
import { countOf, formatDuration } from "../output/number-words.ts";
import { OwnWork } from "../progress/own-work.ts";
import { JsonView } from "../progress/json-view.ts";
import { PlainView } from "../progress/plain-view.ts";
import type { ProgressView } from "../progress/run-progress.ts";
import { TerminalView } from "../progress/terminal-view.ts";
import { watchRun } from "../progress/watch-run.ts";
import { checkOut, partsOf } from "../run/results/out-file.ts";
import { openExecWork } from "../run/work/exec-work.ts";
import { finishRun } from "../run/results/finish-run.ts";
import type { JobSource } from "../run/source/job-source.ts";
import type { JobWork } from "../run/work/job-work.ts";
import { modulePath, openModuleWork } from "../run/work/module-work.ts";
import { openSource } from "../run/source/open-source.ts";
import { readRunFlags, type RunFlags, type RunNumbers } from "../run/start/run-flags.ts";
import { runConfig, runJob, stopError, type JobOptions } from "../run/work/run-job.ts";
import { readOverview, type RunOverview } from "../run/inspect/run-overview.ts";
import type { RunSettings } from "../run/start/run-settings.ts";
import { dryRun } from "../run/start/dry-run.ts";
import type { Selection } from "../run/source/selection.ts";
import { alreadyEnded, closingMessage, openingMessage, type OwnTotals } from "../run/report/run-messages.ts";
import { startOrJoin } from "../run/start/start-or-join.ts";
import { stopSignal, type StopSignal } from "../stop-signal.ts";
import { openStore } from "../store-url/open-store.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { addOldRunOption, refuseRunOption } from "./chosen-run.ts";

const DETAILS = [
  "The same command goes on where it was, and says what it skipped: after Ctrl-C, after kill -9, and on another machine that uses the same store. Started several times, it works on one run together. What a run is for is its source, its command or module, and --out: with another of these it is another run.",
  "",
  "{} stands for the item, as one word whatever is in it; do not put it between single quotes. Without {} the item is appended, like xargs does. A command also sees it as $1, and GOSSIP_RUN, GOSSIP_SHARD and GOSSIP_FENCE. A module exports a function (item, context).",
  "",
  "Sources:",
  "  fs:FOLDER            every regular file below it, links not followed",
  "  lines:FILE           every line of it",
  "  postgres:URL#TABLE   every row of it, by primary key",
].join("\n");

/** `gossip run`: the main job. */
export function registerRun(program: Command, cli: Cli): void {
  const command = addStoreCommand(program, {
    usage: "run [name]",
    summary: "Do something to every item of a source",
    details: DETAILS,
    examples: [
      "gossip run --source fs:/data --exec 'sha256sum {}' --out sums.ndjson",
      "gossip run --source lines:urls.txt --exec 'curl -sf {}' --workers 32 --retries 5",
      "gossip run --source postgres://db.internal/shop#orders --module ./backfill.mjs --store postgres://db.internal/gossip",
    ],
  })
    .requiredOption("--source <source>", "where the items are")
    .option("--exec <command>", "a shell command for every item")
    .option("--module <file>", "an ES module with a function for every item")
    .option("--workers <count>", "items at a time in this process (default: one for each processor)")
    .option("--out <file>", "results as lines of JSON, each once whatever crashes")
    .option("--overwrite", "replace a file of --out that another run wrote")
    .option("--again", "start over where the run has ended")
    .option("--dry-run", "print the plan and the first commands; start nothing, write nothing")
    .option("--limit <count>", "only the first so many items")
    .addOption(repeatable("--include <glob>", "only files of a tree that match; may be repeated"))
    .addOption(repeatable("--exclude <glob>", "no files and folders of a tree that match; may be repeated"))
    .option("--key <columns>", "read a table in the order of another unique key: its columns, with commas")
    .option("--where <condition>", "only the rows of a table that meet this SQL condition")
    .option("--columns <columns>", "only these columns of a row, with commas")
    .addOption(
      new Option("--on-fail <what>", "an item that keeps failing is recorded and passed over, or its shard set aside")
        .choices(["skip", "park"])
        .default("skip"),
    )
    .option("--retries <count>", "how often an item is tried again", "2")
    .option("--timeout <seconds>", "fail an item that takes longer")
    .option("--lease <seconds>", "how long a killed worker's shards are waited for", "10")
    .option("--grace <seconds>", "how long items may go on after Ctrl-C", "8")
    .option("--patience <seconds>", "how long to wait for a store, source or service that is down", "600")
    .option("--shards <count>", "how many parts to begin with (default: 8 for each worker, at least 32)")
    .option("--max-output <bytes>", "how much is kept of what an item writes to a stream", String(2 ** 20));
  addOldRunOption(command).action(
    acting(cli, async (name: string | undefined, flags: RunFlags) => {
      const refused = refuseRunOption("run", flags, ["--source", flags.source]);
      return refused.ok ? run(cli, name, flags) : refused;
    }),
  );
}

async function run(cli: Cli, name: string | undefined, flags: RunFlags): Promise<CommandResult> {
  const store = readStoreFlags(cli, flags);
  if (!store.ok) return store;
  const numbers = readRunFlags(name, flags);
  if (!numbers.ok) return numbers;
  const out = flags.out === undefined ? undefined : resolve(cli.cwd, flags.out);
  if (out !== undefined) {
    const writable = await checkOut(out);
    if (!writable.ok) return writable;
  }
  const { address } = store.value;
  const own = [...(address.kind === "lmdb" ? [address.path] : []), ...(out === undefined ? [] : [out, partsOf(out)])];
  const { selection } = numbers.value;
  const source = await openSource(flags.source, { cwd: cli.cwd, own, selection });
  if (!source.ok) return source;
  const jobSource = source.value;
  try {
    const settings = settingsOf(cli, { name, flags, selection, out, identity: jobSource.identity });
    const job = { flags, settings, store: store.value, numbers: numbers.value, jobSource };
    return flags.dryRun === true ? await rehearse(cli, job) : await withWork(cli, job, (each) => onStore(cli, each));
  } finally {
    await jobSource.source.close?.();
  }
}

/** Check the command, then print what a run would do. A module is not loaded, because that may do anything. */
async function rehearse(cli: Cli, job: Omit<Job, "work">): Promise<CommandResult> {
  const print = (): Promise<CommandResult> => dryRun(cli, { ...job, shardCount: job.numbers.shardCount });
  return job.flags.exec === undefined ? print() : withWork(cli, job, print);
}

async function withWork(
  cli: Cli,
  job: Omit<Job, "work">,
  use: (job: Job) => Promise<CommandResult>,
): Promise<CommandResult> {
  const work = await openWork(cli, job.flags, job.numbers, job.jobSource);
  if (!work.ok) return work;
  try {
    return await use({ ...job, work: work.value });
  } finally {
    await work.value.close();
  }
}

async function openWork(
  cli: Cli,
  flags: RunFlags,
  numbers: RunNumbers,
  { argumentOf }: JobSource,
): Promise<Result<JobWork, CliError>> {
  const { cwd, env } = cli;
  const policy = { maxAttempts: numbers.maxAttempts, onFail: flags.onFail };
  if (flags.module !== undefined) return openModuleWork({ path: flags.module, cwd, policy });
  const { workers, timeoutMs, maxOutputSize } = numbers;
  const surroundings = { cwd, env: commandEnvironment(env), argumentOf };
  return openExecWork({ command: flags.exec!, workers, timeoutMs, maxOutputSize, policy, ...surroundings });
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

interface Identity {
  readonly name: string | undefined;
  readonly flags: RunFlags;
  readonly selection: Selection;
  readonly out: string | undefined;
  readonly identity: string;
}

function settingsOf({ cwd }: Cli, { name, flags, selection, out, identity }: Identity): RunSettings {
  const module = flags.module === undefined ? undefined : modulePath({ path: flags.module, cwd });
  return { name, source: identity, selection, exec: flags.exec, module, out };
}

interface Job {
  readonly flags: RunFlags;
  readonly settings: RunSettings;
  readonly store: StoreSettings;
  readonly numbers: RunNumbers;
  readonly jobSource: JobSource;
  readonly work: JobWork;
}

async function onStore(cli: Cli, job: Job): Promise<CommandResult> {
  const { address, tso } = job.store;
  const opened = await openStore({ address, tso });
  if (!opened.ok) return opened;
  const view = viewFor(cli);
  const endAtOnce = (): void => {
    job.work.killAtOnce();
    view.close();
  };
  const stop = stopSignal(cli, {
    first: () =>
      view.say(
        `Stopping: letting what is under way finish for up to ${formatDuration(job.numbers.graceMs)}; Ctrl-C again stops at once.`,
        { kind: "stopping" },
      ),
    second: () => {
      endAtOnce();
      view.say("Stopped at once: items in progress were ended and are done again; the same command goes on.", {
        kind: "stopped",
      });
    },
  });
  // What is under way was to be printed: left undone, it is done again another time.
  const stopMinding = cli.onOutputLost(endAtOnce);
  const stopResizing = view instanceof TerminalView ? cli.onSignal("SIGWINCH", () => view.redraw()) : undefined;
  try {
    return await startAndWork(cli, job, { opened: opened.value, view, stop });
  } finally {
    stopResizing?.();
    stopMinding();
    stop.dispose();
    view.close();
    await opened.value.close();
  }
}

interface Around {
  readonly opened: OpenedStore;
  readonly view: ProgressView;
  readonly stop: StopSignal;
}

async function startAndWork(cli: Cli, job: Job, { opened, view, stop }: Around): Promise<CommandResult> {
  const { flags, settings, numbers, jobSource, work } = job;
  const { out } = settings;
  const { tenant, tso } = job.store;
  const { source } = jobSource;
  const started = await startOrJoin({
    opened,
    tenant,
    settings,
    source,
    config: runConfig(numbers),
    shardCount: numbers.shardCount,
    again: flags.again === true,
    overwrite: flags.overwrite === true,
    signal: stop.signal,
  });
  if (!started.ok) return started;
  if (started.value === "Aborted") return ok(stop.exit ?? "Interrupted");
  cli.console.suggestFor({ run: RunId.format(started.value.request.run) });
  const before = await readOverview(opened, started.value.request);
  if (!before.ok) return before;
  const ended = await alreadyEnded(started.value, before.value, { opened, view, out });
  if (ended !== undefined) return ended;
  view.say(openingMessage(started.value, before.value, settings), {
    kind: "started",
    run: started.value.request.run,
    isNew: started.value.kind === "Created",
    skipped: before.value.totals.items,
  });

  const beganMs = performance.now();
  const worker = WorkerId.fromRaw(randomBytes(8).readBigUInt64BE());
  const ownWork = new OwnWork(() => performance.now());
  const { request } = started.value;
  const watch = watchRun({
    opened,
    request,
    source,
    view,
    itemsBefore: before.value.totals.items,
    own: ownWork,
    isStopping: () => stop.signal.aborted,
  });
  let worked: Result<Worked | "Stopped", CliError>;
  try {
    worked = await workToTheEnd({
      opened,
      tso,
      started: started.value,
      jobSource,
      work,
      out,
      numbers,
      view,
      stop,
      ownWork,
      worker,
    });
  } finally {
    await watch.end();
  }
  if (!worked.ok) return worked;
  if (worked.value === "Stopped") {
    const now = await readOverview(opened, request);
    const items = now.ok ? `${countOf(now.value.totals.items, "item")} done so far; ` : "";
    view.close();
    view.say(`Stopped: ${items}the same command goes on from here.`, { kind: "stopped" });
    return ok(stop.exit ?? "Interrupted");
  }
  const { overview, own } = worked.value;
  watch.showEnd(overview);
  view.close();
  return closingMessage(view, overview, { out, before: before.value, elapsedMs: performance.now() - beganMs, own });
}

interface Worked {
  readonly overview: RunOverview;
  readonly own: OwnTotals;
}

/** Work until the run ends; again if it got new work in between, such as an unparked shard. */
async function workToTheEnd(job: JobOptions): Promise<Result<Worked | "Stopped", CliError>> {
  let own: OwnTotals = { items: 0, problems: 0 };
  for (;;) {
    const { stopped, items, problems } = await runJob(job);
    own = { items: own.items + items, problems: own.problems + problems };
    const problem = stopError(stopped, job.out);
    if (!problem.ok) return problem;
    if (stopped.kind === "Aborted") return ok("Stopped");
    const finished = await finishRun(job.opened, job.started.request, job.out);
    if (!finished.ok) return finished;
    const { leased, waiting } = finished.value.states;
    if (finished.value.status === "Done" || leased + waiting === 0) return ok({ overview: finished.value, own });
  }
}

function viewFor(cli: Cli): ProgressView {
  const { console } = cli;
  if (console.isJson) return new JsonView(console);
  return console.canRedraw(console.stderr) ? new TerminalView(console) : new PlainView(console);
}
