// The page docs/reference/cli.md, from the tables and the commands themselves.
import { METRICS } from "../metrics/metric-names.ts";
import type { Command, Option } from "commander";
import { descriptionOf, type Cli } from "../cli.ts";
import { makeProgram } from "../main.ts";
import { ERROR_KINDS } from "../output/cli-error.ts";
import { Console } from "../output/console.ts";
import { EXIT_CODES } from "../output/exit-codes.ts";
import { KEY_FORMS } from "../keys/key-text.ts";

const INTRO = `# The \`gossip\` command

Printed from the code by \`GOSSIP_WRITE_DOCS=1 npx vitest run --project cli cli-page\`; a test compares them.

Results go to stdout, what is said about the work to stderr. With \`--json\` every result is a line of JSON: ids have 16
hexadecimal digits, times are ISO 8601, bytes base64url. An error is one sentence that says what to do, with \`--json\`
\`{"error":{"kind","message","exitCode"}}\`. \`NO_COLOR\` and \`TERM=dumb\` are respected. \`GOSSIP_STORE\` names the store where
\`--store\` does not, which keeps a password out of the list of processes.

Credentials are masked (\`…\`) in everything that is printed: the login of a URL, and values that are named as a password, a
token, a secret or a key. In the text of \`--exec\` also headers and options that usually hold one; that is a guess, so put
secrets into the environment. A suggested command has \`--store "$GOSSIP_STORE"\` instead of a URL with a password. What
items print, and \`gossip keys\`, are passed on as they are.
`;

const STORES = `## Stores

| \`--store\` | what it is |
| --- | --- |
| \`FOLDER\`, \`lmdb:FOLDER\` | the embedded store: a folder on a local disk, shared by the processes of one machine. \`.gossip\` where nothing is said |
| \`postgres://USER:PASSWORD@HOST:PORT/DATABASE\` | PostgreSQL 15 or later; \`?schema=NAME\` for another schema than \`gossip\`, the rest as the driver knows it |
| \`etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX\` | etcd 3.4 or later; \`etcds:\` for TLS |
| \`https://HOST:PORT\` | a service (\`gossip serve\`); \`http://\` on this machine only. \`GOSSIP_TOKEN\` or \`--token-file\` holds its token, \`--ca\` its authority, \`?cert=FILE&key=FILE\` a client certificate |

Machines that share a store go by their own clocks unless \`--tso\` gives them one: a clock that runs ahead ends the leases of others. A run compares this machine's clock with that
of the PostgreSQL or etcd server when it starts and every minute. It warns if they differ by more than a quarter of the lease, and refuses to work if they differ by more than the lease.

A service has one clock for all its workers, and its machine alone needs the store. Every command works through it but \`gossip fsck\` and \`gossip store\`, which run on its machine.
\`gossip run\` needs a token with the role \`operate\`. A run goes on after a restart or an outage of the service.
`;

const RUN_NOTES = `### What a run is

A run is found again by its source, its command or module, and \`--out\`: the same command goes on. \`gossip run NAME\` names it instead, and is then
refused with other settings. \`--again\` leaves a run that has ended as it is and starts another; after \`gossip delete\` the same command does so by itself.
Workers, retries, the lease and the rest may differ from start to start, and between workers of the same run; a run keeps the lease that it began with.

### Parts of a source

\`--limit\`, \`--include\` and \`--exclude\` belong to the settings of a run: with others it is another run. \`--limit N\` takes the first N items in the order of their keys.
A glob without a slash is matched against names at any depth, one with a slash against the path below the folder; one with a slash at its end matches folders only.
\`*\` stops at a slash and \`**\` does not; both match a leading dot. An excluded folder is not entered. \`--dry-run\` prints commands that a shell takes as they are; it opens no store and loads no module.
The file of \`--out\` must not exist when a run starts for the first time, unless it is empty or \`--overwrite\` is given.

### Commands

\`--exec\` is run by \`/bin/sh\`, in the folder where \`gossip\` was started, each item in a subshell of a shell that is kept. \`{}\` becomes the item as one word
outside quotes, between double quotes and in a here-document, also in a function of the command; between single quotes, in a here-document with a quoted delimiter, and as \`\\{}\`, it stays as it is. In \`$((…))\` it is refused. A command that has
neither \`{}\` nor a \`$1\` that the shell fills in gets the item as its last argument, as with \`xargs\`; it must end in a simple command, not in \`;\`, \`done\` or a comment. A command has no input. It has
the environment of \`gossip\` without \`GOSSIP_STORE\`, \`GOSSIP_TOKEN\`, \`GOSSIP_TSO_TOKEN\` and \`GOSSIP_ETCD_PASSWORD\`; \`PGPASSWORD\` and the other variables of PostgreSQL stay. \`GOSSIP_RUN\`, \`GOSSIP_SHARD\` and
\`GOSSIP_FENCE\` are 16 hexadecimal digits each. \`GOSSIP_FENCE\` is the worker's \`writeFence\`: it grows for every later holder of an item, also across splits, so whatever a command writes to can refuse one that is lower than it has seen for that item.
Ctrl-C does not reach commands; the second one ends them. What a command leaves running in the background is not waited for, and what that prints may end up with another item.

| source | \`{}\` | in \`--out\` |
| --- | --- | --- |
| \`fs:\` | the whole path | \`path\` |
| \`lines:\`, \`list:\` | the line or entry, without its end | \`offset\`, \`line\` |
| \`postgres:\` | the row as JSON | \`key\`: the primary key, column by column |
| \`s3:\` | the \`s3://\` URL | \`url\` |

### Modules

\`--module\` exports a function \`(item, context)\`, as \`default\` or \`process\`; what it returns, or the promise of it, is the result. The item and the context are those of
\`@gossip/worker\`: \`item.path\`, \`item.line\`, \`item.row\`; \`context.signal\`, \`context.writeFence\`, \`context.shard\`, \`context.attempt\`. An export \`close\` is called
when the work is over. A function that keeps the process busy keeps its leases. What it throws is a failure; where that has a number \`retryAfterMs\`, the item is not
tried again sooner, up to a minute.

### Results

A line of \`--out\` has the fields above, \`ok\`, and for a command \`status\`, \`stdout\` and, where there was any, \`stderr\`; for a module \`result\`; for a failed item \`error\`. Bytes
that are not UTF-8 are in base64url under the name with \`64\` behind it (\`path64\`, \`stdout64\`). \`droppedBytes\` counts what was beyond \`--max-output\`. Lines stand in
the order of keys. Until the run is done they are in \`FILE.parts\`, which all machines of the run must see. Without \`--out\`, what commands print is passed on,
after a crash perhaps twice. A slow reader slows the work down. If the reader goes away, or its disk is full, the run ends with 9, and the same command continues it.

### Failures

An item that fails is tried again after a pause, \`--retries\` times. Then it is recorded with \`"ok":false\` and passed over (\`--on-fail skip\`), or its shard is parked and the
rest goes on (\`--on-fail park\`): \`gossip unpark\` and the same command try again. Either way the exit code says so.

A folder that cannot be read and a line that is too long are passed over. Errors that may pass, such as EIO and ESTALE, are retried first. How many there were is
stored with the progress (\`unreadable\`), so every later start of the run reports it and exits with 3.

### Trees that others can write to

\`fs:\` never follows a link below FOLDER, also not one that replaces a folder during the run, so every path that it gives was the path of a regular file of the tree. Right
before a command or a process of \`--pipe\` gets a path, it is looked up again: an item fails if FOLDER is another folder now, or if a link has the place of the file or of a folder
above it. The command opens the path after that: anyone who can write to the tree, or to the folder above it, and is quick enough, can still put a link there. Do not run
commands that change or delete files with more rights than those of the tree's owner. A module can open \`item.open()\` instead of the path: it follows no link below FOLDER.

FOLDER itself may be a link, or lie below one. A process resolves it once, when it starts, and from then on uses only the folder that it found. If another folder, a link
or a file takes its place, items fail and the source cannot be read. The work waits for as long as \`--patience\`, and then ends with 6; items that were read ahead
count as failed. The same command continues the run with the folder that is there then: device and inode are compared within one process only, because a reboot or
another mount changes them. A file system that is mounted again during the run may therefore count as another folder.

### Failures and retries

Every item that failed, and every file or folder that could not be read, is recorded in the store in the write that moves past it, with or without \`--out\`: key, attempts, error, time and worker.
\`gossip failures\` lists them. \`gossip retry\` processes only these items again, as a run of its own (\`RUN-retry-1\`, then \`-2\`), and removes those that succeed from the list when it is done.
The results of retried items are in \`OUT.retry-1\`, or in \`NAME.retry-1.gz\` if \`OUT\` is \`NAME.gz\`, each once; \`OUT\` does not change. To combine the files, let the line of the later file win.
Starting a finished run again ends with code 3 as long as it has failures, and with 0 once all of them were retried with success.

### Lines of \`--json\`

| \`kind\` | when |
| --- | --- |
| \`started\` | the run is there: \`run\`, \`isNew\`, \`skipped\` (items done before) |
| \`progress\` | every second: \`items\`, \`failed\`, \`unreadable\`, \`shards\` by state, \`fraction\` and \`remainingMs\` (left out while they are unknown), \`perSecond\`, \`held\`, \`waitMs\` (until the first lease of others ends), \`outage\` (\`what\` does not respond, and \`since\` when) |
| \`failed\` | an item failed for the last time: \`item\`, \`failure\`, \`stderr\`; the first 20 of a process |
| \`problem\`, \`sourceFailed\` | the source passed over something: \`reason\`; a shard is set aside because it cannot be read |
| \`unavailable\`, \`back\` | the store or the source (\`what\`) does not respond, or responds again |
| \`metrics\` | \`--metrics\` is served at \`url\` |
| \`lost\`, \`blocked\`, \`keeperFailed\` | a lease was lost; the module kept the process busy; leases cannot be kept meanwhile |
| \`output\` | what a command printed, without \`--out\` |
| \`listKept\` | the run has its list from stdin; what is piped in now is not read |
| \`clockSkew\` | the clock of this machine and that of the store's server differ |
| \`stopping\`, \`stopped\` | after Ctrl-C, SIGTERM or SIGHUP |
| \`retried\` | the end of a retry: \`run\` (that was retried), \`failures\` (left) |
| \`finished\` | the end: \`items\`, \`failed\`, \`unreadable\`, \`skipped\`, \`parked\`, \`ownItems\` (of this process), \`elapsedMs\`, \`out\` |
`;

const DISPLAY = `## Progress, logs and metrics

On a terminal, \`gossip run\` shows a bar with figures, the key space, and the states of the shards:

\`\`\`text
[=========---------------------] 31 %  14,412 items  1204/s  ETA 27 s
########+++++###....................................
# 12 done  + 4 in work  . 16 waiting  ! 0 parked
\`\`\`

The percentage is the share of the items of the whole run that are done, by all processes, also after a resume and in \`gossip status\`. It comes from what the source counts ahead of the work,
with a small share of the time, and never decreases. While too little is known there is no percentage. The time left reads \`unknown\` unless the pace is steady, and \`< 5 s\` near the end.
While the store or the source does not respond, or the disk of the results is full, a line says so and since when.

Where stderr is no terminal, or with \`--log-level\` or \`--log-format\`, there are lines instead, each with its time, its level and the id of the worker. Levels are \`debug\`, \`info\`,
\`warn\` and \`error\`; progress is reported every five seconds at \`info\`. With \`--log-format json\` every line is an object with \`time\`, \`level\`, \`worker\` and \`message\`, also
errors and what commands write to stderr. With \`--json\`, results are on stdout as always, and the log is on stderr.

\`--metrics HOST:PORT\` serves \`/metrics\` for Prometheus, \`/healthz\` (200 while the process lives) and \`/readyz\` (503 while the store or the source does not respond, while the disk of the results is full, and while the process
stops). A port alone is on the loopback interface; port 0 is any free one, and the address is printed. There is no login: choose an address that only the monitoring can reach.
`;

function metricNames(): string {
  return table(
    "### Metrics",
    ["name", "type", "means"],
    Object.entries(METRICS).map(([name, { type, help }]) => [`\`${name}\``, type, help]),
  );
}

/** The whole page. */
export function cliPage(): string {
  const commands = makeProgram(silentCli()).commands.filter((command) => command.name() !== "help");
  return [
    INTRO,
    exitCodes(),
    errorKinds(),
    STORES,
    keyForms(),
    DISPLAY,
    metricNames(),
    ...commands.flatMap((command) => pagesOf(command, "gossip")),
  ].join("\n");
}

function exitCodes(): string {
  return table(
    "## Exit codes",
    ["code", "name", "means"],
    Object.entries(EXIT_CODES).map(([name, { code, means }]) => [String(code), name, means]),
  ).concat("\nA process that another signal ended has no code; a shell shows 128 and the signal's number.\n");
}

function errorKinds(): string {
  return table(
    "## Errors",
    ["kind", "code", "when"],
    Object.entries(ERROR_KINDS).map(([kind, { exit, when }]) => [`\`${kind}\``, String(EXIT_CODES[exit].code), when]),
  );
}

function keyForms(): string {
  return table(
    "## Keys",
    ["written", "is"],
    Object.values(KEY_FORMS).map(({ example, means }) => [`\`${example}\``, means]),
  );
}

function pagesOf(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const inner = command.commands.filter((each) => each.name() !== "help");
  return [
    pageOf(command, name),
    ...(name === "gossip run" ? [RUN_NOTES] : []),
    ...inner.flatMap((each) => pagesOf(each, name)),
  ];
}

function pageOf(command: Command, name: string): string {
  const described = descriptionOf(command)!;
  const details =
    name === "gossip run" ? "The same command goes on where it was, and says what it skipped." : described.details;
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map((option) => [`\`${option.flags}\``, `${option.description}${defaultOf(option)}`]);
  return [
    `## ${name}\n`,
    `${described.summary}.\n`,
    // Lists in the help are drawn with spaces.
    ...(details === undefined ? [] : [details.includes("\n") ? `\`\`\`text\n${details}\n\`\`\`\n` : `${details}\n`]),
    `\`\`\`sh\n${described.examples.join("\n")}\n\`\`\`\n`,
    ...(options.length === 0 ? [] : [table(undefined, ["option", "means"], options)]),
  ].join("\n");
}

function defaultOf({ defaultValue, argChoices }: Option): string {
  const choices = argChoices === undefined ? "" : ` (one of ${argChoices.join(", ")})`;
  return defaultValue === undefined ? choices : `${choices} (default ${String(defaultValue)})`;
}

function table(title: string | undefined, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    ...(title === undefined ? [] : [title, ""]),
    line(head),
    line(head.map(() => "---")),
    ...rows.map(line),
    "",
  ].join("\n");
}

export function silentCli(): Cli {
  const nowhere = { write: () => true };
  return {
    console: new Console({ stdout: nowhere, stderr: nowhere, env: {} }),
    env: {},
    cwd: "/",
    exit: "Ok",
    onSignal: () => () => {},
    onOutputLost: () => () => {},
    beforeExit: () => () => {},
    exitNow: () => {
      throw new Error("nothing is run here");
    },
  };
}
