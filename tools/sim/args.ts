// The arguments of `pnpm sim`.
import { parseArgs } from "node:util";
import {
  FAULT_LEVELS,
  parseFaultLevel,
  type FaultLevel,
} from "../../packages/coordination/src/testing/sim/fault-level.ts";
import { parseSteps } from "../../packages/coordination/src/testing/sim/shrink.ts";
import type { SimOptions } from "../../packages/coordination/src/testing/sim/sim-options.ts";

export const USAGE = `pnpm sim [--seeds N] [--seed X] [--fault sunnyday|stormy|radioactive|mixed]

  --seeds N      how many seeds to run, one after the other (100)
  --seed X       the first seed; alone, the only one (0)
  --fault L      how rough it gets; mixed takes the levels in turn (mixed)
  --safety N     steps with faults (250)
  --liveness N   most steps without faults, until every shard has ended (2500)
  --workers N, --tenants N, --runs N, --shards N
                 how large the world is; the seed decides what is left out
  --steps LIST   take only these steps, as 0-3,7: what a cut-down failure prints
  --trace        print what every operation came to
  --coverage F   write the protocol states and steps that were met to the file F, as JSON`;

export interface SimArgs {
  /** One for each run. */
  readonly runs: readonly SimOptions[];
  readonly printsTrace: boolean;
  /** Where to write what was met, if anywhere. */
  readonly coverageFile?: string;
}

const FLAGS = {
  seeds: { type: "string" },
  seed: { type: "string" },
  fault: { type: "string" },
  safety: { type: "string" },
  liveness: { type: "string" },
  workers: { type: "string" },
  tenants: { type: "string" },
  runs: { type: "string" },
  shards: { type: "string" },
  steps: { type: "string" },
  trace: { type: "boolean" },
  coverage: { type: "string" },
} as const;

const DEFAULT_SEEDS = 100;

/** Throws with a sentence where something is not as `USAGE` says. */
export function parseSimArgs(argv: readonly string[]): SimArgs {
  const { values } = parseArgs({ args: [...argv], options: FLAGS, strict: true, allowPositionals: false });
  const first = values.seed === undefined ? 0n : readSeed(values.seed);
  const seeds =
    values.seeds === undefined ? (values.seed === undefined ? DEFAULT_SEEDS : 1) : readCount("seeds", values.seeds);
  const steps = values.steps === undefined ? undefined : readSteps(values.steps);
  const size = {
    ...optional("workers", values.workers, "workers"),
    ...optional("tenants", values.tenants, "tenants"),
    ...optional("runsPerTenant", values.runs, "runs"),
    ...optional("shardsPerRun", values.shards, "shards"),
  };
  const common = {
    ...optional("safetySteps", values.safety, "safety"),
    ...optional("livenessSteps", values.liveness, "liveness"),
    ...(Object.keys(size).length === 0 ? {} : { size }),
    ...(steps === undefined ? {} : { steps }),
    keepsTrace: values.trace === true,
  };
  const runs = Array.from({ length: seeds }, (_, index) => ({
    ...common,
    seed: first + BigInt(index),
    level: levelOf(values.fault, index),
  }));
  const printsTrace = values.trace === true;
  return values.coverage === undefined ? { runs, printsTrace } : { runs, printsTrace, coverageFile: values.coverage };
}

function levelOf(fault: string | undefined, index: number): FaultLevel {
  if (fault === undefined || fault === "mixed") return FAULT_LEVELS[index % FAULT_LEVELS.length]!;
  const level = parseFaultLevel(fault);
  if (level === undefined)
    throw new Error(`--fault must be one of ${FAULT_LEVELS.join(", ").toLowerCase()}, mixed; got ${fault}`);
  return level;
}

function readSeed(text: string): bigint {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) >= 1n << 64n)
    throw new Error(`--seed must be a whole number below 2^64, got ${text}`);
  return BigInt(text);
}

function readCount(flag: string, text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new Error(`--${flag} must be a whole number below 10,000,000, got ${text}`);
  return Number(text);
}

function readSteps(text: string): number[] {
  const steps = parseSteps(text);
  if (steps === undefined) throw new Error(`--steps must be like 0-3,7, got ${text}`);
  return steps;
}

/** A number under its name, or nothing at all. */
function optional<Name extends string>(name: Name, text: string | undefined, flag: string): { [N in Name]?: number } {
  return text === undefined ? {} : ({ [name]: readCount(flag, text) } as { [N in Name]: number });
}
