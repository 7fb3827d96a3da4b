import type { FailureClass, Item, ItemContext } from "@gossip/worker";
import { RunId, ShardId } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import { parseTemplate } from "../../exec/command-template.ts";
import { ShellPool, type ExecAnswer } from "../../exec/shell-pool.ts";
import { fail, type CliError } from "../../output/cli-error.ts";
import { formatDuration } from "../../output/number-words.ts";
import { printableText } from "../../output/printable.ts";
import { CommandFailed, type ExecResult } from "../results/item-result.ts";
import type { FailurePolicy, JobWork } from "./job-work.ts";

export interface ExecOptions {
  readonly command: string;
  readonly workers: number;
  readonly timeoutMs: number | undefined;
  readonly maxOutputSize: number;
  readonly policy: FailurePolicy;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly argumentOf: (item: Item) => Uint8Array;
}

const ZERO_BYTE = "it has a zero byte in it, which no argument can have";
const NOTHING = { bytes: Buffer.alloc(0), droppedSize: 0 } as const;

/** Runs a command for every item, in long-lived shells. */
export function openExecWork(options: ExecOptions): Result<JobWork, CliError> {
  const { command, workers, timeoutMs, maxOutputSize, policy, cwd, env, argumentOf } = options;
  const body = parseTemplate(command);
  if (!body.ok) {
    if (body.error.kind === "EmptyCommand")
      return fail("BadCommandLine", "--exec is empty: write a command, such as --exec 'sha256sum {}'.");
    if (body.error.kind === "PlaceholderInArithmetic")
      return fail(
        "BadCommandLine",
        "--exec has {} in $((…)), where a shell may run what a name holds: check that it is a number first, and use a variable.",
      );
    if (body.error.kind === "PlaceholderMissing")
      return fail(
        "BadCommandLine",
        "--exec has no {}, and does not end in a simple command that the item could be appended to: write {} where the item goes.",
      );
    return fail(
      "BadCommandLine",
      "--exec has {} only between single quotes, or in a here-document with a quoted delimiter, where it stays as it is: write {} without quotes, it is quoted for you.",
    );
  }
  const opened = ShellPool.open({ size: workers, body: body.value, cwd, env, maxOutputSize, timeoutMs });
  if (!opened.ok)
    return err({
      kind: "InvalidCommand",
      message: `the shell cannot read the command of --exec (${printableText(opened.error.complaint)}): correct it, and try it in a shell.`,
    });
  const pool = opened.value;

  const process = async (item: Item, context: ItemContext): Promise<ExecResult> => {
    const answer = await pool.run({ item: argumentOf(item), variables: variablesOf(context), signal: context.signal });
    // The item was aborted, so this result is ignored.
    if (answer.kind === "Aborted") throw new Error("the command was stopped");
    const result = resultOf(answer, timeoutMs);
    if (result.failure === undefined) return result;
    throw new CommandFailed(result);
  };
  return ok({
    process,
    policy,
    classifyFailure,
    mayBlock: false,
    close: async () => pool.close(),
    killAtOnce: () => pool.killAtOnce(),
  });
}

/** The exit status that means "try again later" (`EX_TEMPFAIL` of sysexits.h). */
const TRY_LATER = 75;

function classifyFailure(error: unknown): FailureClass | undefined {
  if (!(error instanceof CommandFailed)) return undefined;
  const { status, failure } = error.result;
  if (failure === ZERO_BYTE) return "Permanent";
  return status === TRY_LATER ? "Dependency" : "Item";
}

/** Variables for the command. The fence lets the systems it writes to refuse a worker that lost its shard. */
function variablesOf({ shard, writeFence }: ItemContext): string {
  return `export GOSSIP_RUN=${RunId.format(shard.key.run)} GOSSIP_SHARD=${ShardId.format(shard.key.shard)} GOSSIP_FENCE=${writeFence.toString(16).padStart(16, "0")}\n`;
}

function resultOf(answer: Exclude<ExecAnswer, { kind: "Aborted" }>, timeoutMs: number | undefined): ExecResult {
  switch (answer.kind) {
    case "Ended": {
      const { status, stdout, stderr } = answer;
      return { kind: "Exec", status, stdout, stderr, failure: status === 0 ? undefined : failureOf(status) };
    }
    case "ShellDied":
      return {
        kind: "Exec",
        status: undefined,
        stdout: NOTHING,
        stderr: NOTHING,
        failure: "the shell that ran it was killed",
      };
    case "TimedOut":
      return {
        kind: "Exec",
        status: undefined,
        stdout: NOTHING,
        stderr: NOTHING,
        failure: `it took longer than ${formatDuration(timeoutMs ?? 0)}`,
      };
    case "ZeroByte":
      return {
        kind: "Exec",
        status: undefined,
        stdout: NOTHING,
        stderr: NOTHING,
        failure: ZERO_BYTE,
      };
  }
}

/** A shell adds 128 to the number of the signal that ended a command. */
function failureOf(status: number): string {
  return status > 128 ? `ended by signal ${status - 128}` : `exit status ${status}`;
}
