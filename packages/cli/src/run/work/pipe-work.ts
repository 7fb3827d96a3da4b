import { RunId, ShardId } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import { ItemTimedOut, type FailureClass, type Item, type ItemContext } from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";
import { PipeFailed } from "../../pipe/pipe-failed.ts";
import { PipePool } from "../../pipe/pipe-pool.ts";
import type { ModuleResult } from "../results/item-result.ts";
import type { FailurePolicy, JobWork } from "./job-work.ts";

export interface PipeOptions {
  readonly command: string;
  /** How many processes. */
  readonly workers: number;
  readonly timeoutMs: number | undefined;
  readonly policy: FailurePolicy;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The item as a process gets it. */
  readonly fieldsOf: (item: Item) => Record<string, unknown>;
}

/** Sends every item to a long-lived process that reads lines of JSON and answers with lines of JSON. */
export function openPipeWork(options: PipeOptions): Result<JobWork, CliError> {
  const { command, workers: size, timeoutMs, policy, cwd, env, fieldsOf } = options;
  if (command.trim() === "")
    return fail("BadCommandLine", "--pipe is empty: write a command, such as --pipe 'python3 worker.py'.");
  const broken = new AbortController();
  const onBroken = (why: string): void => broken.abort(brokenSentence(why));
  const timedOut = (): Error => new ItemTimedOut(timeoutMs ?? 0);
  const opened = PipePool.open({ command, size, timeoutMs, cwd, env, timedOut, onBroken });
  if (!opened.ok)
    return err({
      kind: "InvalidCommand",
      message: `the shell cannot read the command of --pipe (${printableText(opened.error.complaint)}): correct it, and try it in a shell.`,
    });
  const pool = opened.value;
  const contexts = new WeakMap<ItemContext, string>();
  const process = (item: Item, context: ItemContext): Promise<ModuleResult> => {
    let shown = contexts.get(context);
    if (shown === undefined) contexts.set(context, (shown = JSON.stringify(contextJson(context))));
    const fields = `"item":${JSON.stringify(fieldsOf(item))},"context":${shown}`;
    return pool.run({ item, fields, signal: context.signal });
  };
  return ok({
    process,
    policy,
    classifyFailure,
    mayBlock: false,
    itemConcurrency: () => pool.appetite,
    broken: broken.signal,
    logTo: (onLog) => (pool.onLog = onLog),
    stopStarting: () => pool.stopStarting(),
    close: () => pool.close(),
    killAtOnce: () => pool.killAtOnce(),
  });
}

function classifyFailure(error: unknown): FailureClass | undefined {
  return error instanceof PipeFailed ? error.failureClass : undefined;
}

/** What a process learns about an item's lease. The fence has the form of `GOSSIP_FENCE`. */
function contextJson({ shard, writeFence, attempt }: ItemContext): Record<string, unknown> {
  return {
    run: RunId.format(shard.key.run),
    shard: ShardId.format(shard.key.shard),
    fence: writeFence.toString(16).padStart(16, "0"),
    attempt,
  };
}

function brokenSentence(why: string): CliError {
  return {
    kind: "InvalidCommand",
    message: `the command of --pipe ends before it answers anything (${printableText(why)}): correct it, and try it in a shell with one line of input.`,
  };
}
