import { resolve } from "node:path";
import type { BatchOutcome, ClassifyFailure, Item, ItemContext } from "@gossip/worker";
import { InvariantViolation, ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";
import type { ModuleResult } from "../results/item-result.ts";
import type { JobBatches, JobFunction } from "../../job/define-job.ts";
import type { FailurePolicy, JobWork } from "./job-work.ts";
import { loadModule, type ModuleExports } from "./load-module.ts";

export interface ModuleOptions {
  /** The path as given. */
  readonly path: string;
  readonly cwd: string;
  readonly policy: FailurePolicy;
}

interface LoadedModule {
  readonly job: JobFunction | JobBatches;
  /** Decides whether an error is the item's fault or a dependency's, if the module exports it. */
  readonly classifyFailure: ClassifyFailure | undefined;
  /** Called at the end, if the module exports it. */
  readonly close: () => unknown;
}

/** Shared by all items without a result, which are most of them. */
const NOTHING: ModuleResult = Object.freeze({ kind: "Module", value: undefined, failure: undefined });

/** The path of a module in a run's settings. */
export function modulePath({ path, cwd }: Pick<ModuleOptions, "path" | "cwd">): string {
  return resolve(cwd, path);
}

/**
 * Runs a function of a module for every item: its default export, or its export `process`. It is called with the item
 * and the context of `@gossip/worker`. If the module exports `close`, it is called at the end. If it exports
 * `classifyFailure`, that decides whether an error is the item's fault or a dependency's.
 */
export async function openModuleWork({ path, cwd, policy }: ModuleOptions): Promise<Result<JobWork, CliError>> {
  const shown = printableText(path);
  const exports = await loadModule(modulePath({ path, cwd }), shown);
  if (!exports.ok) return exports;
  const loaded = jobOf(exports.value, shown);
  if (!loaded.ok) return loaded;
  const { job, classifyFailure, close } = loaded.value;

  const isEach = typeof job === "function";
  return ok({
    process: isEach ? eachItem(job) : notCalled,
    ...(isEach ? {} : { batches: inBatches(job) }),
    policy,
    ...(classifyFailure === undefined ? {} : { classifyFailure }),
    mayBlock: true,
    close: async () => void (await close()),
    killAtOnce: () => {},
  });
}

// Not async: a promise per item costs more than most items do.
function eachItem(job: JobFunction): JobWork["process"] {
  return (item: Item, context: ItemContext): ModuleResult | Promise<ModuleResult> => {
    const value = job(item, context);
    if (value === undefined) return NOTHING;
    return isPromise(value) ? Promise.resolve(value).then(succeeded) : succeeded(value);
  };
}

function inBatches({ batch, size }: JobBatches): NonNullable<JobWork["batches"]> {
  return {
    processBatch: async (items, context) => {
      const outcomes = await batch(items, context);
      if (outcomes === undefined) return items.map(() => ({ result: NOTHING }));
      // The runtime reports what is not one outcome for each item.
      if (!Array.isArray(outcomes)) return outcomes as never;
      return (outcomes as readonly BatchOutcome[]).map((outcome) =>
        "error" in outcome ? outcome : { result: succeeded(outcome.result) },
      );
    },
    ...(size === undefined ? {} : { batchSize: size }),
  };
}

function notCalled(): never {
  throw new InvariantViolation("a module that works on batches gets no single items");
}

/** Find the function in what a module exports: `process`, the default export, or `process` of the default export. */
function jobOf(exports: ModuleExports, shown: string): Result<LoadedModule, CliError> {
  const exported = exports["process"] ?? exports["default"];
  const object = typeof exported === "object" && exported !== null ? (exported as ModuleExports) : undefined;
  const job = object?.["process"] ?? exported;
  if (typeof job !== "function" && !isBatches(job))
    return fail(
      "InvalidModule",
      `the module ${shown} exports no function: write \`export default function (item, context) { … }\`.`,
    );
  const close = object?.["close"] ?? exports["close"];
  const classifyFailure = object?.["classifyFailure"] ?? exports["classifyFailure"];
  return ok({
    job: job as JobFunction | JobBatches,
    classifyFailure: typeof classifyFailure === "function" ? (classifyFailure as ClassifyFailure) : undefined,
    close: typeof close === "function" ? () => close() as unknown : () => {},
  });
}

/** The function `batch`, and how many items it takes, if that is given. */
function isBatches(job: unknown): boolean {
  if (typeof job !== "object" || job === null) return false;
  const { batch, size } = job as Record<string, unknown>;
  return typeof batch === "function" && (size === undefined || (Number.isInteger(size) && (size as number) >= 1));
}

function succeeded(value: unknown): ModuleResult {
  return value === undefined ? NOTHING : { kind: "Module", value, failure: undefined };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
