import { performance } from "node:perf_hooks";
import { RunId, RunStatus } from "@gossip/contracts";
import type { RunRequest, RunSettingsChange } from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import type { Cli, CommandResult, StoreSettings } from "../../cli.ts";
import type { OpenedLog } from "../../logging/open-log.ts";
import type { CliError } from "../../output/cli-error.ts";
import { formatDuration } from "../../output/number-words.ts";
import { HistoryKeeper } from "../../progress/history-keeper.ts";
import { TerminalView } from "../../progress/terminal-view.ts";
import { watchRun } from "../../progress/watch-run.ts";
import { stopSignal, type StopSignal } from "../../stop-signal.ts";
import { judgeSkew, measureSkew, watchSkew } from "../../store-url/clock-skew.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { shareKeyKinds } from "../inspect/key-kinds.ts";
import { readOverview, type RunOverview } from "../inspect/run-overview.ts";
import { itemCountText, sampleJson } from "../inspect/sample-text.ts";
import { readShownOverview } from "../inspect/sampled-overview.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { observeRun, type RunObserver } from "../report/observe-run.ts";
import { alreadyEnded, closingMessage, openingMessage, type OwnTotals } from "../report/run-messages.ts";
import { finishRun } from "../results/finish-run.ts";
import { isFlawless } from "../results/item-totals.ts";
import type { JobSource } from "../source/job-source.ts";
import type { RunFlags, RunNumbers } from "../start/run-flags.ts";
import type { RunSettings } from "../start/run-settings.ts";
import { startOrJoin, type Started } from "../start/start-or-join.ts";
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
  readonly log: OpenedLog;
}

/** Work on a run until it ends or the user stops the command, and show its progress. */
export async function carryOut(cli: Cli, job: Job, opened: OpenedStore): Promise<CommandResult> {
  const observer = await observeRun(cli, job.flags, job.log);
  if (!observer.ok) return observer;
  const { onStoreCall } = observer.value;
  const observed = onStoreCall === undefined ? opened : opened.observe(onStoreCall);
  try {
    return await carryOutObserved(cli, job, { opened: observed, observer: observer.value });
  } finally {
    await observer.value.close();
  }
}

async function carryOutObserved(
  cli: Cli,
  job: Job,
  { opened, observer }: Omit<Around, "stop">,
): Promise<CommandResult> {
  const { view } = observer;
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
    return await startAndWork(cli, job, { opened, observer, stop });
  } finally {
    stopResizing?.();
    stopMinding();
    stop.dispose();
    view.close();
  }
}

interface Around {
  readonly opened: OpenedStore;
  readonly observer: RunObserver;
  readonly stop: StopSignal;
}

async function startAndWork(cli: Cli, job: Job, around: Around): Promise<CommandResult> {
  const { settings, numbers, jobSource } = job;
  const { opened, observer, stop } = around;
  const { view } = observer;
  const judged = judgeSkew(await measureSkew(opened), {
    leaseMs: numbers.leaseMs,
    hasOracle: job.store.tso !== undefined,
  });
  if (!judged.ok) return judged;
  if (judged.value !== undefined) view.say(judged.value, { kind: "clockSkew" });
  const started = await startRunOf(job, around);
  if (!started.ok) return started;
  if (started.value === "Aborted") return ok(stop.exit ?? "Interrupted");
  // What a retry could not finish is still a failure of its run.
  cli.console.suggestFor({ run: settings.selection.failedIn ?? RunId.format(started.value.request.run) });
  const { request, record } = started.value;
  // What a run that has ended says about its items must be exact.
  const before = RunStatus.isTerminal(record.status)
    ? await readOverview(opened, request)
    : await readShownOverview(opened, request);
  if (!before.ok) return before;
  if (started.value.kind === "Joined" && jobSource.isPiped === true)
    view.say(
      "This run has its list, so stdin is not read: another list needs another name, or --again after the end.",
      {
        kind: "listKept",
      },
    );
  const ended = await alreadyEnded(started.value, before.value, { opened, view, out: settings.out });
  if (ended !== undefined) return ended;
  const limited = await setLimits(opened, started.value.request, numbers.limits);
  if (!limited.ok) return limited;
  view.say(openingMessage(started.value, before.value, settings), {
    kind: "started",
    run: started.value.request.run,
    isNew: started.value.kind === "Created",
    skipped: before.value.totals.items,
    ...sampleJson(before.value),
  });
  return workAndReport(job, around, { started: started.value, before: before.value });
}

function startRunOf({ flags, settings, store, numbers, jobSource }: Job, { opened, stop }: Around) {
  return startOrJoin({
    opened,
    tenant: store.tenant,
    settings,
    source: jobSource.source,
    ...(jobSource.prepare === undefined ? {} : { prepare: jobSource.prepare.bind(jobSource) }),
    config: runConfig(numbers),
    shardCount: numbers.shardCount,
    again: flags.again === true,
    overwrite: flags.overwrite === true,
    signal: stop.signal,
  });
}

interface Begun {
  readonly started: Started;
  readonly before: RunOverview;
}

/** Work on a run that has begun, show its progress, and report how it ended. */
async function workAndReport(job: Job, { opened, observer, stop }: Around, begun: Begun): Promise<CommandResult> {
  const { jobSource, work, numbers } = job;
  const { started, before } = begun;
  const { out } = job.settings;
  const { tso } = job.store;
  const { request } = started;
  const { view } = observer;
  const beganMs = performance.now();
  if (started.kind === "Created") await shareKeyKinds(opened, request, jobSource.keyKinds?.());
  observer.begin(request, jobSource.identity);
  const watch = watchRun({
    opened,
    request,
    source: jobSource.source,
    view,
    worker: observer.worker,
    before,
    own: observer.own,
    onShown: observer.onShown,
    history: historyOf(opened, started, observer),
    isStopping: () => stop.signal.aborted,
  });
  const skewed = new AbortController();
  const stopWatching = watchSkew({
    leaseMs: Number(started.record.config.leaseDuration),
    hasOracle: tso !== undefined,
    measure: () => measureSkew(opened),
    onWarning: (text) => view.say(text, { kind: "clockSkew" }),
    onError: (error) => skewed.abort(error),
  });
  const signal = AbortSignal.any([stop.signal, skewed.signal, ...(work.broken === undefined ? [] : [work.broken])]);
  let worked: Result<Worked | "Stopped", CliError>;
  try {
    worked = await workToTheEnd({ opened, tso, started, jobSource, work, out, numbers, observer, signal });
  } finally {
    stopWatching();
    await watch.end();
  }
  if (!worked.ok) return worked;
  if (worked.value === "Stopped") {
    for (const failure of [skewed.signal, work.broken])
      if (failure?.aborted === true) return err(failure.reason as CliError);
    await reportStop(opened, request, view);
    return ok(stop.exit ?? "Interrupted");
  }
  const { overview, own } = worked.value;
  if (overview.status === "Done" && isFlawless(overview.totals)) await jobSource.discard?.();
  watch.showEnd(overview);
  view.close();
  return closingMessage(view, overview, { out, before, elapsedMs: performance.now() - beganMs, own });
}

async function reportStop(opened: OpenedStore, request: RunRequest, view: RunObserver["view"]): Promise<void> {
  const now = await readShownOverview(opened, request);
  const items = now.ok ? `${itemCountText(now.value)} done so far; ` : "";
  view.close();
  view.say(`Stopped: ${items}the same command goes on from here.`, { kind: "stopped" });
}

/** Change the limits that the command names. Those of other processes stay. */
async function setLimits(
  { coordinator }: OpenedStore,
  request: RunRequest,
  change: RunSettingsChange,
): Promise<Result<void, CliError>> {
  if (change.itemsPerSecond === undefined && change.concurrency === undefined) return ok();
  const changed = await coordinator.changeRunSettings({ ...request, change });
  return changed.ok ? ok() : err(coordSentence(changed.error));
}

/** A service keeps the history of its runs itself. */
function historyOf(
  { direct }: OpenedStore,
  { request, record }: Started,
  { worker, own }: RunObserver,
): HistoryKeeper | undefined {
  if (direct === undefined) return undefined;
  const leaseMs = Number(record.config.leaseDuration);
  return new HistoryKeeper({ store: direct.store, request, leaseMs, worker, own });
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
    const finished = await finishRun(job.opened, job.started.request, {
      out: job.out,
      partSize: job.numbers.partSize,
    });
    if (!finished.ok) return finished;
    const { leased, waiting } = finished.value.states;
    if (finished.value.status === "Done" || leased + waiting === 0) return ok({ overview: finished.value, own });
  }
}
