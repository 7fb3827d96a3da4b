import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Option, type Command } from "commander";
import { acting, addStoreCommand, readStoreFlags, type Cli, type CommandResult } from "../cli.ts";
import { ok } from "@gossip/stdx";
import { openLog } from "../logging/open-log.ts";
import { formatDuration } from "../output/number-words.ts";
import { viewFor } from "../run/report/observe-run.ts";
import { checkOut, outPath, partsOf } from "../run/results/out-file.ts";
import { listFolder } from "../run/list/list-folder.ts";
import { openSource } from "../run/source/open-source.ts";
import type { Selection } from "../run/source/selection.ts";
import { dryRun } from "../run/start/dry-run.ts";
import { readRunFlags, type RunFlags } from "../run/start/run-flags.ts";
import type { RunSettings } from "../run/start/run-settings.ts";
import { carryOut, type Job } from "../run/work/carry-out.ts";
import { modulePath } from "../run/work/module-work.ts";
import { withWork } from "../run/work/open-work.ts";
import { stopSignal } from "../stop-signal.ts";
import type { CliError } from "../output/cli-error.ts";
import { openStorePatiently } from "../store-url/open-store-for.ts";
import { describeStore } from "../store-url/store-address.ts";
import { addOldRunOption, refuseRunOption } from "./chosen-run.ts";
import { addWorkOptions } from "./work-options.ts";

const DETAILS = [
  "The same command goes on where it was, and says what it skipped: after Ctrl-C, after kill -9, and on another machine that uses the same store. Started several times, it works on one run together. What a run is for is its source, its command or module, and --out: with another of these it is another run.",
  "",
  "{} stands for the item, as one word whatever is in it; do not put it between single quotes. Without {} the item is appended, like xargs does. A command also sees it as $1, and GOSSIP_RUN, GOSSIP_SHARD and GOSSIP_FENCE. A module exports a function (item, context).",
  "",
  'A process of --pipe reads {"id":…,"item":{…},"context":{…}} from stdin, a line for each item, and writes {"id":…,"result":…} or {"id":…,"error":…} to stdout, in any order. Its first line can be {"batch":100}: then it gets up to 100 lines and an empty line. Every other line is a line of the log. --workers processes run at once.',
  "",
  "Sources:",
  "  fs:FOLDER            every regular file below it, links not followed",
  "  lines:FILE           every line of it",
  "  list:FILE, list:-    every entry of a list, or of stdin, in any order; stdin",
  "                       is stored first, so that the run can go on without it",
  "  postgres:URL#TABLE   every row of it, by primary key",
  "  s3://BUCKET/PREFIX   every object whose key begins with the prefix; --endpoint",
  "                       for servers other than AWS",
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
      "gossip run --source lines:words.txt --pipe 'python3 worker.py' --out answers.ndjson",
      "find . -name '*.log' -print0 | gossip run --source list:- -0 --exec 'gzip {}'",
      "gossip run --source postgres://db.internal/shop#orders --module ./backfill.mjs --store postgres://db.internal/gossip",
    ],
  })
    .requiredOption("--source <source>", "where the items are")
    .option("--exec <command>", "a shell command for every item")
    .option("--module <file>", "an ES module with a function for every item")
    .option("--pipe <command>", "a long-lived process that reads items as lines of JSON and answers with lines of JSON")
    .option(
      "--out <file>",
      "results as lines of JSON, each once whatever crashes; a folder of parts if it ends with /, compressed if its name ends in .gz",
    )
    .option("--again", "start over where the run has ended")
    .option("--dry-run", "print the plan and the first commands; start nothing, write nothing")
    .option("--limit <count>", "only the first so many items")
    .option("-0, --null", "the entries of a list end with a zero byte, as find -print0 writes them")
    .option("--unique", "leave out entries of a list that came before")
    .addOption(repeatable("--include <glob>", "only files of a tree that match; may be repeated"))
    .addOption(repeatable("--exclude <glob>", "no files and folders of a tree that match; may be repeated"))
    .option("--key <columns>", "read a table in the order of another unique key: its columns, with commas")
    .option("--where <condition>", "only the rows of a table that meet this SQL condition")
    .option("--columns <columns>", "only these columns of a row, with commas")
    .option("--endpoint <url>", "the server of an S3 source, if it is not AWS")
    .addOption(
      new Option("--on-fail <what>", "an item that keeps failing is recorded and passed over, or its shard set aside")
        .choices(["skip", "park"])
        .default("skip"),
    );
  addWorkOptions(command);
  addOldRunOption(command).action(
    acting(cli, async (name: string | undefined, flags: RunFlags) => {
      const refused = refuseRunOption("run", flags, ["--source", flags.source]);
      return refused.ok ? run(cli, name, flags) : refused;
    }),
  );
}

async function run(cli: Cli, name: string | undefined, flags: RunFlags): Promise<CommandResult> {
  const log = openLog(cli, flags);
  const store = readStoreFlags(cli, flags);
  if (!store.ok) return store;
  const numbers = readRunFlags(name, flags);
  if (!numbers.ok) return numbers;
  const out = flags.out === undefined ? undefined : outPath(cli.cwd, flags.out);
  if (out !== undefined) {
    const writable = await checkOut(out);
    if (!writable.ok) return writable;
  }
  const { address } = store.value;
  const own = [
    ...(address.kind === "lmdb" ? [address.path] : []),
    ...(out === undefined ? [] : [resolve(out), partsOf(out)]),
  ];
  const { selection } = numbers.value;
  // A dry run leaves nothing behind.
  const folder = flags.dryRun === true ? join(tmpdir(), `gossip-list-${randomUUID()}`) : listFolder(address, cli.env);
  const source = await openSource(flags.source, { cwd: cli.cwd, own, selection, listFolder: folder, stdin: cli.stdin });
  if (!source.ok) return source;
  const jobSource = source.value;
  try {
    const settings = settingsOf(cli, { name, flags, selection, out, identity: jobSource.identity });
    const job = { flags, settings, store: store.value, numbers: numbers.value, jobSource, log };
    return flags.dryRun === true ? await rehearse(cli, job) : await withWork(cli, job, (each) => onStore(cli, each));
  } finally {
    await jobSource.source.close?.();
    if (flags.dryRun === true) await rm(folder, { recursive: true, force: true });
  }
}

/** Check the command, then print what a run would do. A module is not loaded, because that may do anything. */
async function rehearse(cli: Cli, job: Omit<Job, "work">): Promise<CommandResult> {
  const prepared = await job.jobSource.prepare?.({ list: undefined });
  if (prepared?.ok === false) return prepared;
  const print = (): Promise<CommandResult> => dryRun(cli, { ...job, shardCount: job.numbers.shardCount });
  return job.flags.module === undefined ? withWork(cli, job, print) : print();
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
  return { name, source: identity, selection, exec: flags.exec, module, pipe: flags.pipe, out };
}

async function onStore(cli: Cli, job: Job): Promise<CommandResult> {
  const { address, tso } = job.store;
  const { patienceMs } = job.numbers;
  const view = viewFor(cli, job.log);
  const stop = stopSignal(cli);
  const where = describeStore(address);
  const onWait = ({ outage, server = where }: CliError): void =>
    view.say(
      `${server} does not respond (${outage}): waiting for it, for up to ${formatDuration(patienceMs)}; --patience sets another limit.`,
      { kind: "unavailable" },
    );
  const opened = await openStorePatiently(cli, { address, tso }, { patienceMs, signal: stop.signal, onWait });
  stop.dispose();
  view.close();
  if (!opened.ok) return stop.exit === undefined ? opened : ok(stop.exit);
  try {
    return stop.exit === undefined ? await carryOut(cli, job, opened.value) : ok(stop.exit);
  } finally {
    await opened.value.close();
  }
}
