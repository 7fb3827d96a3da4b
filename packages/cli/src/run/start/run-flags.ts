import { availableParallelism } from "node:os";
import { ok, type Result } from "@gossip/stdx";
import { MAX_PLANNED_SHARDS, type RunWorkersOptions } from "@gossip/worker";
import type { StoreFlags } from "../../cli.ts";
import { fail, type CliError } from "../../output/cli-error.ts";
import type { RunSettingsChange } from "@gossip/coordination";
import { readLimits, type LimitFlags } from "../limits/limit-text.ts";
import type { ObserveFlags } from "../../logging/log-options.ts";
import { readNames, type Selection } from "../source/selection.ts";
import type { OnFail } from "../work/job-work.ts";

/** The options of `gossip run`, as text. */
export interface RunFlags extends StoreFlags, ObserveFlags, LimitFlags {
  readonly source: string;
  readonly exec?: string;
  readonly module?: string;
  readonly pipe?: string;
  readonly workers?: string;
  readonly out?: string;
  readonly run?: string;
  readonly again?: boolean;
  readonly onFail: OnFail;
  readonly retries: string;
  readonly timeout?: string;
  readonly lease: string;
  readonly grace: string;
  readonly patience: string;
  readonly retryDelay: string;
  readonly retryFactor: string;
  readonly retryMaxDelay: string;
  readonly maxFailures?: string;
  readonly shards?: string;
  readonly maxOutput: string;
  readonly partSize: string;
  readonly limit?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly key?: string;
  readonly where?: string;
  readonly columns?: string;
  readonly endpoint?: string;
  readonly null?: boolean;
  readonly unique?: boolean;
  readonly dryRun?: boolean;
  readonly overwrite?: boolean;
}

export interface RunNumbers {
  readonly workers: number;
  readonly maxAttempts: number;
  readonly timeoutMs: number | undefined;
  readonly leaseMs: number;
  readonly graceMs: number;
  /** How long to wait for the store, the source, or a service that items need. */
  readonly patienceMs: number;
  /** The pauses between the attempts of an item. */
  readonly backoff: { readonly baseMs: number; readonly factor: number; readonly maxMs: number };
  readonly maxFailures: MaxFailures | undefined;
  readonly shardCount: number;
  readonly maxOutputSize: number;
  /** The most bytes of a part, if the results go to a folder. */
  readonly partSize: number;
  readonly selection: Selection;
  /** Limits of the whole run to change. */
  readonly limits: RunSettingsChange;
}

type MaxFailures = NonNullable<RunWorkersOptions["maxFailures"]>;

const MAX_WORKERS = 256;
const MAX_LIMIT = 1_000_000_000;
/** One day. */
const MAX_SECONDS = 86_400;

/** Parse the numbers of `gossip run`, and check that the options fit together. */
export function readRunFlags(name: string | undefined, flags: RunFlags): Result<RunNumbers, CliError> {
  if ([flags.exec, flags.module, flags.pipe].filter((given) => given !== undefined).length !== 1)
    return fail("BadCommandLine", "run needs --exec COMMAND, --module FILE or --pipe COMMAND: give one of them.");
  if (name === "") return fail("BadCommandLine", "the name of the run is empty: write a name, or leave it out.");
  if (flags.out === "") return fail("BadCommandLine", "--out is empty: name a file, or leave it out.");
  const limits = readLimits(flags);
  if (!limits.ok) return limits;
  const read = reader();
  const workers = read("--workers", flags.workers ?? String(availableParallelism()), { min: 1, max: MAX_WORKERS });
  const numbers: RunNumbers = {
    workers,
    maxAttempts: read("--retries", flags.retries, { min: 0, max: 1000 }) + 1,
    timeoutMs:
      flags.timeout === undefined
        ? undefined
        : read("--timeout", flags.timeout, { min: 0.001, max: MAX_SECONDS, isSeconds: true }),
    leaseMs: read("--lease", flags.lease, { min: 1, max: MAX_SECONDS, isSeconds: true }),
    graceMs: read("--grace", flags.grace, { min: 0, max: MAX_SECONDS, isSeconds: true }),
    patienceMs: read("--patience", flags.patience, { min: 0, max: MAX_SECONDS, isSeconds: true }),
    backoff: {
      baseMs: read("--retry-delay", flags.retryDelay, { min: 0, max: 3600, isSeconds: true }),
      factor: read("--retry-factor", flags.retryFactor, { min: 1, max: 100, isFraction: true }),
      maxMs: read("--retry-max-delay", flags.retryMaxDelay, { min: 0, max: MAX_SECONDS, isSeconds: true }),
    },
    maxFailures: flags.maxFailures === undefined ? undefined : readMaxFailures(flags.maxFailures),
    shardCount: read("--shards", flags.shards ?? String(Math.max(32, 8 * workers)), {
      min: 1,
      max: MAX_PLANNED_SHARDS,
    }),
    maxOutputSize: read("--max-output", flags.maxOutput, { min: 0, max: 2 ** 30 }),
    partSize: read("--part-size", flags.partSize, { min: 1, max: 2 ** 50 }),
    selection: {
      limit: flags.limit === undefined ? undefined : read("--limit", flags.limit, { min: 1, max: MAX_LIMIT }),
      include: flags.include,
      exclude: flags.exclude,
      key: flags.key === undefined ? undefined : readNames(flags.key),
      where: flags.where,
      columns: flags.columns === undefined ? undefined : readNames(flags.columns),
      endpoint: flags.endpoint,
      null: flags.null,
      unique: flags.unique,
    },
    limits: limits.value,
  };
  for (const name of ["key", "columns"] as const)
    if (flags[name] !== undefined && numbers.selection[name] === undefined)
      return fail("BadCommandLine", `--${name} is not a list of columns: write names with commas between them.`);
  if (flags.maxFailures !== undefined && numbers.maxFailures === undefined)
    return fail("BadCommandLine", "--max-failures is not a number of items or a share: write 100, or 5%.");
  if (numbers.backoff.maxMs < numbers.backoff.baseMs)
    return fail("BadCommandLine", "--retry-max-delay is shorter than --retry-delay: make it longer.");
  return read.problem === undefined ? ok(numbers) : fail("BadCommandLine", read.problem);
}

function readMaxFailures(text: string): MaxFailures | undefined {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const share = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text)?.[1];
  return share !== undefined && Number(share) <= 100 ? `${Number(share)}%` : undefined;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Seconds, possibly with a fraction, converted to milliseconds. */
  readonly isSeconds?: boolean;
  /** A number, possibly with a fraction. */
  readonly isFraction?: boolean;
}

interface Reader {
  (option: string, text: string, bounds: Bounds): number;
  /** What is wrong with the first invalid number. */
  problem: string | undefined;
}

function reader(): Reader {
  const read = ((option, text, { min, max, isSeconds = false, isFraction = false }) => {
    const value = (isSeconds || isFraction ? /^\d{1,9}(?:\.\d{1,9})?$/ : /^\d{1,15}$/).test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max))
      read.problem ??= `${option} is not a ${isSeconds ? "number of seconds" : isFraction ? "number" : "whole number"} from ${min} to ${max}: correct it.`;
    return isSeconds ? Math.round(value * 1000) : value;
  }) as Reader;
  read.problem = undefined;
  return read;
}
