import { Command, CommanderError } from "commander";
import { InvariantViolation } from "@gossip/stdx";
import { commandLineError, type Cli } from "./cli.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerConsole } from "./commands/console.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerCancel, registerDelete } from "./commands/end-run.ts";
import { registerEvents } from "./commands/events.ts";
import { registerFailures } from "./commands/failures.ts";
import { registerFsck } from "./commands/fsck.ts";
import { registerKeys } from "./commands/keys.ts";
import { registerPause, registerResume } from "./commands/pause.ts";
import { registerPark } from "./commands/park.ts";
import { registerRetry } from "./commands/retry.ts";
import { registerRun } from "./commands/run.ts";
import { registerRuns } from "./commands/runs.ts";
import { registerShards } from "./commands/shards.ts";
import { registerShow } from "./commands/show.ts";
import { registerSet } from "./commands/set.ts";
import { registerSplit } from "./commands/split.ts";
import { registerStatus } from "./commands/status.ts";
import { registerStore } from "./commands/store.ts";
import { registerScope } from "./commands/scope.ts";
import { registerServe } from "./commands/serve.ts";
import { registerToken } from "./commands/token.ts";
import { registerTso } from "./commands/tso.ts";
import { registerUnpark } from "./commands/unpark.ts";
import { registerWorkers } from "./commands/workers.ts";
import { EXIT_CODES } from "./output/exit-codes.ts";
import { maskCredentials } from "@gossip/insight";
import { CLOCK_GONE } from "./run/report/coord-sentence.ts";
import { refusedSentence } from "./store-url/service-sentences.ts";
import { VERSION } from "./version.ts";

/** In the order of `--help`: what most people want first. */
const REGISTER = [
  registerRun,
  registerStatus,
  registerRuns,
  registerShards,
  registerShow,
  registerFailures,
  registerRetry,
  registerWorkers,
  registerEvents,
  registerPark,
  registerUnpark,
  registerSplit,
  registerSet,
  registerPause,
  registerResume,
  registerCancel,
  registerDelete,
  registerFsck,
  registerStore,
  registerDoctor,
  registerKeys,
  registerConsole,
  registerServe,
  registerScope,
  registerToken,
  registerTso,
  registerCompletion,
];

/** The whole program, ready to parse a command line. */
export function makeProgram(cli: Cli): Command {
  const program = new Command("gossip")
    .description(
      "Do something to every key of something huge, in parallel, on one machine or many, and never lose your place.",
    )
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show what there is")
    .helpCommand("help [command]", "show what a command does")
    .addHelpText("after", "\nExample:\n  $ gossip run --source fs:. --exec 'sha256sum {}' --out sums.ndjson")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void cli.console.stdout.write(maskCredentials(text)),
      writeErr: (text) => void cli.console.stderr.write(maskCredentials(text)),
      // Errors are printed once, by us.
      outputError: () => {},
      getOutHelpWidth: () => cli.console.width ?? 100,
    });
  for (const register of REGISTER) register(program, cli);
  return program;
}

/** Run a command line. Returns the process's exit code. */
export async function main(argv: readonly string[], cli: Cli): Promise<number> {
  // Known before parsing, so that an error in the command line has the requested form.
  cli.console.isJson = argv.includes("--json");
  const program = makeProgram(cli);
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: "user" });
  } catch (thrown) {
    const refused = refusedSentence(thrown);
    if (refused !== undefined) cli.exit = cli.console.fail(refused);
    else if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return EXIT_CODES.Ok.code;
      cli.exit = cli.console.fail(commandLineError(thrown, commandNamed(program, argv)));
    } else if (thrown instanceof Error && thrown.name === "ClockUnavailable") {
      cli.exit = cli.console.fail(CLOCK_GONE);
    } else {
      cli.exit = "Bug";
      reportBug(cli, thrown);
    }
  }
  return EXIT_CODES[cli.exit].code;
}

/** The command that a command line names, as far as it exists. */
function commandNamed(program: Command, argv: readonly string[]): string {
  const [first, second] = argv;
  const command = program.commands.find((each) => each.name() === first);
  if (command === undefined) return "gossip";
  const inner = command.commands.find((each) => each.name() === second);
  return ["gossip", command.name(), ...(inner === undefined ? [] : [inner.name()])].join(" ");
}

/** Report a defect. Shows only messages of our own: any other may quote secrets. */
export function reportBug(cli: Cli, thrown: unknown): void {
  const what =
    thrown instanceof InvariantViolation ? thrown.message : thrown instanceof Error ? thrown.name : typeof thrown;
  cli.console.note(`gossip: this is a defect of gossip (${what}): please report it; GOSSIP_DEBUG=1 shows where.`);
  if (cli.env["GOSSIP_DEBUG"] === "1" && thrown instanceof Error) cli.console.note(thrown.stack ?? "");
}
