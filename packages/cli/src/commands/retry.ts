import type { Command } from "commander";
import { RunId, RunStatus } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import { acting, addStoreCommand, readStoreFlags, type Cli, type CommandResult } from "../cli.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { countOf } from "../output/number-words.ts";
import { openLog, type OpenedLog } from "../logging/open-log.ts";
import { readSettings } from "../run/inspect/run-overview.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { checkOut, outPath, retryPath } from "../run/results/out-file.ts";
import { failedItemsSource } from "../run/retry/failed-items-source.ts";
import { sourceNameOf } from "../run/retry/range-to-retry.ts";
import { countFailuresLeft, findRetry, resolveRetried, type FailedRun, type Retry } from "../run/retry/retries.ts";
import type { JobSource } from "../run/source/job-source.ts";
import { openSource } from "../run/source/open-source.ts";
import { readRunFlags, type RunFlags } from "../run/start/run-flags.ts";
import { fingerprintOf, type RunSettings } from "../run/start/run-settings.ts";
import { carryOut, type Job } from "../run/work/carry-out.ts";
import { modulePath } from "../run/work/module-work.ts";
import { listFolder } from "../run/list/list-folder.ts";
import { withWork } from "../run/work/open-work.ts";
import { withFailedRun, type ChosenRun } from "./chosen-run.ts";
import { addWorkOptions } from "./work-options.ts";

type Flags = Omit<RunFlags, "source" | "onFail"> & { readonly source?: string };

/** `gossip retry`: try the failed items of a run again. */
export function registerRetry(program: Command, cli: Cli): void {
  const command = addStoreCommand(program, {
    usage: "retry [run]",
    summary: "Try the failed items of a run again",
    details:
      "Only the items that `gossip failures` lists are processed, in parallel, by any number of processes. Ctrl-C stops a retry, and the same command goes on. When it is done, the items that succeeded are removed from the list, and so is a file or folder that is gone. The source and the command are those of the run; give --exec, --module or --pipe to use others. Results are written to their own file: OUT.retry-1 for the first retry of a run with --out OUT, then OUT.retry-2.",
    examples: ["gossip retry", "gossip retry nightly --workers 4 --retries 5"],
  })
    .option("--source <source>", "the source of the run, if it needs a password or is elsewhere")
    .option("--exec <command>", "another command than that of the run")
    .option("--module <file>", "another module than that of the run")
    .option("--pipe <command>", "another process than that of the run")
    .option("--out <file>", "the file for results, if not next to those of the run");
  addWorkOptions(command).action(
    acting(cli, (reference: string | undefined, flags: Flags) =>
      withFailedRun(cli, flags, reference, (chosen) => retryRun(cli, chosen, flags)),
    ),
  );
}

async function retryRun(cli: Cli, chosen: ChosenRun, given: Flags): Promise<CommandResult> {
  const log = openLog(cli, given);
  const { opened, record, request } = chosen;
  if (!RunStatus.isTerminal(record.status))
    return fail(
      "NotAllowed",
      `run ${RunId.format(record.run)} is ${record.status}, and only what failed in a run that has ended can be retried: let it finish, or \`gossip cancel RUN\` ends it.`,
    );
  const stored = await readSettings(opened, record);
  if (!stored.ok) return stored;
  if (stored.value === undefined)
    return fail("NotAllowed", "the run was started by another program, so its command is not known: retry it there.");
  const { failedIn } = stored.value.selection;
  if (failedIn !== undefined)
    return fail("NotAllowed", `this is a retry itself: \`gossip retry ${failedIn}\` goes on with its run.`);
  const failed: FailedRun = { request, sourceName: sourceNameOf(stored.value.source) };
  const retry = await findRetry(opened, failed);
  if (!retry.ok) return retry;
  const failures = await opened.coordinator.countFailures(request);
  if (!failures.ok) return err(coordSentence(failures.error));
  if (failures.value === 0 && !retry.value.isOpen) {
    cli.console.note("Nothing to retry: the run has no failures.");
    return ok("Ok");
  }
  const flags = completeFlags(given, stored.value, retry.value);
  const known = checkCommand(given, stored.value);
  if (!known.ok) return known;
  if (flags.out !== undefined) {
    const writable = await checkOut(outPath(cli.cwd, flags.out));
    if (!writable.ok) return writable;
  }
  const source = await openSource(flags.source, {
    cwd: cli.cwd,
    own: [],
    selection: selectionOf(stored.value),
    listFolder: listFolder(opened.address, cli.env),
    stdin: undefined,
  });
  if (!source.ok) return source;
  try {
    const job = jobOf(cli, { chosen, flags, stored: stored.value, retry: retry.value, jobSource: source.value, log });
    if (!job.ok) return job;
    const worked = await withWork(cli, job.value, (each) => carryOut(cli, each, opened));
    return worked.ok ? await settle(cli, { opened, failed, retry: retry.value }, worked) : worked;
  } finally {
    await source.value.source.close?.();
  }
}

/** The options of `gossip run` for a retry. What was not given is as in the run. */
function completeFlags(given: Flags, stored: RunSettings, { number }: Retry): RunFlags {
  const isOther = given.exec !== undefined || given.module !== undefined || given.pipe !== undefined;
  const work = isOther ? {} : { exec: stored.exec, module: stored.module, pipe: stored.pipe };
  const out = given.out ?? (stored.out === undefined ? undefined : retryPath(stored.out, number));
  // A source is stored without its login. PostgreSQL then takes it from the environment.
  const source = given.source ?? stored.source.replace(/^postgres:(?!\/\/)/, "postgres://");
  const complete = { ...given, ...work, source, out, onFail: "skip" };
  return Object.fromEntries(Object.entries(complete).filter(([, value]) => value !== undefined)) as unknown as RunFlags;
}

/** Settings hold a command without its secrets, and only the beginning of a long one. Such a command has to be repeated. */
function checkCommand(
  { exec, module, pipe }: Flags,
  stored: RunSettings & { readonly fingerprint: string },
): Result<void, CliError> {
  const isGiven = [exec, module, pipe].some((given) => given !== undefined);
  if (isGiven || fingerprintOf(stored) === stored.fingerprint) return ok();
  return fail(
    "BadCommandLine",
    "the command of the run is not stored in full, because it is long or holds a secret: repeat it with --exec or --pipe.",
  );
}

/** What the source needs to find the items: not how many, and not which files. */
function selectionOf({ selection }: RunSettings): RunSettings["selection"] {
  const { key, where, columns, endpoint, null: isNull, unique } = selection;
  return { key, where, columns, endpoint, null: isNull, unique };
}

interface RetryJob {
  readonly chosen: ChosenRun;
  readonly flags: RunFlags;
  readonly stored: RunSettings;
  readonly retry: Retry;
  readonly jobSource: JobSource;
  readonly log: OpenedLog;
}

function jobOf(
  cli: Cli,
  { chosen, flags, stored, retry, jobSource, log }: RetryJob,
): Result<Omit<Job, "work">, CliError> {
  const store = readStoreFlags(cli, flags);
  if (!store.ok) return store;
  const numbers = readRunFlags(retry.name, flags);
  if (!numbers.ok) return numbers;
  const { opened, request } = chosen;
  const settings: RunSettings = {
    name: retry.name,
    source: stored.source,
    list: stored.list,
    selection: { ...selectionOf(stored), failedIn: RunId.format(request.run) },
    exec: flags.exec,
    pipe: flags.pipe,
    module: flags.module === undefined ? undefined : modulePath({ path: flags.module, cwd: cli.cwd }),
    out: flags.out === undefined ? undefined : outPath(cli.cwd, flags.out),
  };
  const source = failedItemsSource({ opened, request, doneRetries: retry.doneRetries, source: jobSource.source });
  return ok({ flags, settings, store: store.value, numbers: numbers.value, jobSource: { ...jobSource, source }, log });
}

/** Remove what succeeded from the failures of the run, and report what is left. */
async function settle(
  cli: Cli,
  { opened, failed, retry }: Pick<ChosenRun, "opened"> & { readonly failed: FailedRun; readonly retry: Retry },
  worked: CommandResult,
): Promise<CommandResult> {
  const { request } = failed;
  // Messages before this one were about the retry, which is a run of its own.
  cli.console.suggestFor({ run: RunId.format(request.run) });
  const resolved = await resolveRetried(opened, failed, retry.request);
  if (!resolved.ok) return resolved;
  const left = await countFailuresLeft(opened, request);
  if (!left.ok) return left;
  if (!worked.ok || (worked.value !== "Ok" && worked.value !== "ItemsFailed")) return worked;
  if (cli.console.isJson) cli.console.json({ kind: "retried", run: request.run, failures: left.value });
  else
    cli.console.note(
      left.value === 0
        ? `Run ${RunId.format(request.run)} has no failures any more.`
        : `Run ${RunId.format(request.run)} still has ${countOf(left.value, "failure")}: \`gossip failures RUN\` lists them.`,
    );
  return ok(left.value === 0 ? "Ok" : "ItemsFailed");
}
