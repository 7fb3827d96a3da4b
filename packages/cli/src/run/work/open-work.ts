import { ok, type Result } from "@gossip/stdx";
import type { Cli, CommandResult } from "../../cli.ts";
import { commandEnvironment } from "../../exec/secret-variables.ts";
import type { CliError } from "../../output/cli-error.ts";
import type { JobSource } from "../source/job-source.ts";
import type { RunFlags, RunNumbers } from "../start/run-flags.ts";
import type { Job } from "./carry-out.ts";
import { openExecWork } from "./exec-work.ts";
import type { JobWork } from "./job-work.ts";
import { openModuleWork } from "./module-work.ts";
import { openPipeWork } from "./pipe-work.ts";

/** Open the work that the options name, use it, close it. */
export async function withWork(
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
  { argumentOf, checkName, fieldsOf, itemJson = fieldsOf }: JobSource,
): Promise<Result<JobWork, CliError>> {
  const { cwd, env } = cli;
  const policy = { maxAttempts: numbers.maxAttempts, onFail: flags.onFail };
  if (flags.module !== undefined) return openModuleWork({ path: flags.module, cwd, policy });
  const { workers, timeoutMs, maxOutputSize } = numbers;
  const common = { workers, timeoutMs, policy, cwd, env: commandEnvironment(env) };
  const opened =
    flags.pipe === undefined
      ? openExecWork({ command: flags.exec!, maxOutputSize, argumentOf, ...common })
      : openPipeWork({ command: flags.pipe, fieldsOf: itemJson, ...common });
  return opened.ok && checkName !== undefined ? ok(checkingNames(opened.value, checkName)) : opened;
}

function checkingNames(work: JobWork, checkName: NonNullable<JobSource["checkName"]>): JobWork {
  const process: JobWork["process"] = async (item, context) => {
    await checkName(item);
    return work.process(item, context);
  };
  return { ...work, process };
}
