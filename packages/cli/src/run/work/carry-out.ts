import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { RunId, WorkerId } from "@gossip/contracts";
import { ok, type Result } from "@gossip/stdx";
import type { Cli, CommandResult, StoreSettings } from "../../cli.ts";
import type { CliError } from "../../output/cli-error.ts";
import { countOf, formatDuration } from "../../output/number-words.ts";
import { JsonView } from "../../progress/json-view.ts";
import { OwnWork } from "../../progress/own-work.ts";
import { PlainView } from "../../progress/plain-view.ts";
import type { ProgressView } from "../../progress/run-progress.ts";
import { TerminalView } from "../../progress/terminal-view.ts";
import { watchRun } from "../../progress/watch-run.ts";
import { stopSignal, type StopSignal } from "../../stop-signal.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { readOverview, type RunOverview } from "../inspect/run-overview.ts";
import { alreadyEnded, closingMessage, openingMessage, type OwnTotals } from "../report/run-messages.ts";
import { finishRun } from "../results/finish-run.ts";
import type { JobSource } from "../source/job-source.ts";
import type { RunFlags, RunNumbers } from "../start/run-flags.ts";
import type { RunSettings } from "../start/run-settings.ts";
import { startOrJoin } from "../start/start-or-join.ts";
import type { JobWork } from "./job-work.ts";
import { runConfig, runJob, stopError, type JobOptions } from "./run-job.ts";

/** What a command carries out: a run, with its work. */
export interface Job {
  readonly flags: RunFlags;
  readonly settings: RunSettings;
  readonly store: StoreSettings;
  readonly numbers: RunNumbers;
  readonly jobSource: JobSource;
  readonly work: JobWork;
}

/** Work on a run until it ends or the user stops the command, and show its progress. */
export async function carryOut(cli: Cli, job: Job, opened: OpenedStore): Promise<CommandResult> {
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
    return await startAndWork(cli, job, { opened, view, stop });
  } finally {
    stopResizing?.();
    stopMinding();
    stop.dispose();
    view.close();
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
  // What a retry could not finish is still a failure of its run.
  cli.console.suggestFor({ run: settings.selection.failedIn ?? RunId.format(started.value.request.run) });
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
