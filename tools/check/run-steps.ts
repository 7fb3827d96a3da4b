// Runs steps, phase by phase. Those that run beside others print when they are done, so that no two outputs mix.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { ROOT } from "../layers/layers.ts";
import type { Step } from "./steps.ts";

export interface StepOutcome {
  readonly step: Step;
  readonly passed: boolean;
  readonly seconds: string;
}

/** The compiler and the linter are written in Go and end soon: collecting less garbage saves a fifth of their time. */
const GOGC = "400";

/** One lane more than there are cores: a step that starts servers or reads files leaves its core idle at times. */
const LANES = availableParallelism() + 1;

/** Runs steps with `env` in their environment. Returns outcomes in the order of the steps. */
export async function runSteps(
  steps: readonly Step[],
  env: Readonly<Record<string, string>> = {},
): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  for (const phase of ["first", "beside", "last"] as const) {
    const waiting = steps.filter((step) => step.phase === phase);
    const work = async (): Promise<void> => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift())
        outcomes.push(await runStep(step, { isAlone: phase !== "beside", env }));
    };
    await Promise.all(Array.from({ length: phase === "beside" ? LANES : 1 }, work));
  }
  return outcomes.toSorted((a, b) => steps.indexOf(a.step) - steps.indexOf(b.step));
}

interface HowToRun {
  readonly isAlone: boolean;
  readonly env: Readonly<Record<string, string>>;
}

async function runStep(step: Step, { isAlone, env }: HowToRun): Promise<StepOutcome> {
  const title = `\n--- ${step.name}: ${step.checks}`;
  if (isAlone) console.log(title);
  const started = process.hrtime.bigint();
  const child = spawn(step.command, step.args, {
    cwd: ROOT,
    stdio: isAlone ? "inherit" : ["ignore", "pipe", "pipe"],
    env: { GOGC, ...process.env, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const status = await new Promise<number | null>((resolve) => {
    child.on("close", resolve);
    child.on("error", ({ message }) => {
      output += `${step.command} could not be started: ${message}\n`;
      resolve(null);
    });
  });
  if (!isAlone || output !== "") console.log(`${isAlone ? "" : title}\n${output.trimEnd()}`);
  const seconds = (Number(process.hrtime.bigint() - started) / 1e9).toFixed(1);
  return { step, passed: status === 0, seconds };
}
