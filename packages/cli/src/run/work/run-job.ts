import { extname } from "node:path";
import type { RunConfigInput } from "@gossip/coordination";
import { err, ok, Redacted, type Result } from "@gossip/stdx";
import {
  ndjsonSink,
  runWorkers,
  type Item,
  type KeepLeases,
  type RunWorkersOptions,
  type StopReason,
  type WorkerEvent,
  type WorkerSummary,
} from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printable, printableText } from "../../output/printable.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import type { OracleAddress } from "../../store-url/oracle-clock.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import type { RunObserver } from "../report/observe-run.ts";
import { eventPrinter, sourceReason } from "../report/print-events.ts";
import { countingSink } from "../results/counting-sink.ts";
import { failedResult, lastLines, recordOf, type ItemResult } from "../results/item-result.ts";
import type { JobSource } from "../source/job-source.ts";
import type { JobWork } from "./job-work.ts";
import type { KeepLeasesOptions } from "./keep-leases.ts";
import type { RunNumbers } from "../start/run-flags.ts";
import { VERSION } from "../../version.ts";
import { thrownSentence } from "../results/out-file.ts";
import type { Started } from "../start/start-or-join.ts";

export interface JobOptions {
  readonly opened: OpenedStore;
  readonly tso: OracleAddress | undefined;
  readonly started: Started;
  readonly jobSource: JobSource;
  readonly work: JobWork;
  readonly out: string | undefined;
  readonly numbers: RunNumbers;
  readonly observer: RunObserver;
  /** Stops the work. */
  readonly signal: AbortSignal;
}

/**
 * Acquisitions of a shard without progress before it is parked, so that an item that kills its process is not retried
 * forever.
 */
const MAX_SHARD_RETRIES = 50;
/** A longer line of a process is cut. */
const MAX_LOG_LINE = 4000;
const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** Further failures are only counted. */
const MAX_SHOWN_FAILURES = 20;

export function runConfig({ leaseMs }: RunNumbers): RunConfigInput {
  return { leaseDuration: BigInt(leaseMs), maxShardRetries: MAX_SHARD_RETRIES };
}

/** Work until nothing is left or the user stops the command. Returns what this process did. */
export function runJob(options: JobOptions): Promise<WorkerSummary> {
  const { opened, started, jobSource, work, numbers, observer, signal, out } = options;
  const { worker, view, own, logger } = observer;
  const inner =
    out === undefined
      ? undefined
      : ndjsonSink<Item, ItemResult>({
          path: out,
          toRecord: (item, result) => recordOf(jobSource.fieldsOf(item), result),
          toSkippedRecord: (skipped) =>
            skipped.kind === "Failure"
              ? recordOf(jobSource.fieldsOf(skipped.item), failedResult(skipped.cause))
              : undefined,
        });
  const printFailure = failurePrinter(options);
  const print = eventPrinter({ opened, request: started.request, worker, jobSource, view });
  followWork(options);
  const common: Omit<RunWorkersOptions<Item, ItemResult>, "process" | "itemConcurrency"> = {
    coordinator: opened.coordinator,
    run: started.request,
    source: jobSource.source,
    concurrency: numbers.workers,
    signal,
    graceMs: numbers.graceMs,
    patienceMs: numbers.patienceMs,
    sink: countingSink(inner),
    retry: { maxAttempts: work.policy.maxAttempts, ...numbers.backoff },
    ...(numbers.maxFailures === undefined ? {} : { maxFailures: numbers.maxFailures }),
    version: VERSION,
    onItemFailure: work.policy.onFail,
    ...(work.classifyFailure === undefined ? {} : { classifyFailure: work.classifyFailure }),
    // A command has its own time limit, which kills it.
    ...(work.mayBlock && numbers.timeoutMs !== undefined ? { itemTimeoutMs: numbers.timeoutMs } : {}),
    worker,
    onProgress: own.onProgress,
    onEvent(event) {
      observer.onEvent(event);
      print(event);
      if (event.kind === "ItemFailed" && !event.willRetry) printFailure(event);
    },
    ...(logger === undefined ? {} : { logger }),
    ...(work.mayBlock ? { keepLeases: keeperOf(options) } : {}),
  };
  if (work.batches !== undefined) return runWorkers<Item, ItemResult>({ ...common, ...work.batches });
  const process = out === undefined ? withOutputShown(options) : work.process;
  const { itemConcurrency = 1 } = work;
  return runWorkers<Item, ItemResult>({ ...common, process, itemConcurrency });
}

/** Print what processes write beside their results, and end their input early when this process is stopping. */
function followWork({ work, signal, observer: { view } }: JobOptions): void {
  signal.addEventListener("abort", () => work.stopStarting?.(), { once: true });
  work.logTo?.((text) => {
    view.say(printableText(text.length > MAX_LOG_LINE ? `${text.slice(0, MAX_LOG_LINE)}…` : text), { kind: "output" });
    return view.passOn({ stdout: NO_BYTES, stderr: NO_BYTES });
  });
}

/** Wrap the work so that the output of commands is printed. */
function withOutputShown({ work, observer: { view } }: JobOptions): JobWork["process"] {
  const show = (result: ItemResult): ItemResult | Promise<ItemResult> => {
    if (result.kind !== "Exec") return result;
    const isRead = view.passOn({ stdout: result.stdout.bytes, stderr: result.stderr.bytes });
    // The next item waits until there is room for its output. Otherwise output would pile up in memory if the reader is
    // slow.
    return isRead === undefined ? result : isRead.then(() => result);
  };
  return (item, context) => {
    const result = work.process(item, context);
    return result instanceof Promise ? result.then(show) : show(result as ItemResult);
  };
}

/** Print items that failed for good: the first ones, and that there may be more. */
function failurePrinter({
  jobSource,
  observer: { view },
  out,
}: JobOptions): (event: WorkerEvent<"ItemFailed">) => void {
  let failures = 0;
  return ({ item, cause }) => {
    if (++failures > MAX_SHOWN_FAILURES) return;
    const result = failedResult(Redacted.reveal(cause));
    view.failed({
      item: printable(jobSource.argumentOf(Redacted.reveal(item))),
      failure: result.failure ?? "",
      stderr: result.kind === "Exec" ? lastLines(result.stderr.bytes, 1) : "",
    });
    if (failures === MAX_SHOWN_FAILURES) view.say("more may fail; `gossip failures RUN` lists them all");
    if (out === undefined && result.kind === "Exec")
      void view.passOn({ stdout: result.stdout.bytes, stderr: new Uint8Array(0) });
  };
}

function keeperOf({ opened, tso, jobSource, numbers, observer: { log } }: JobOptions): KeepLeases {
  const { identity: source } = jobSource;
  const options: KeepLeasesOptions = {
    address: opened.address,
    tso,
    source,
    graceMs: numbers.graceMs,
    ...(log === undefined ? {} : { log: { level: log.level, format: log.format, worker: log.worker } }),
  };
  // The thread loads the same kind of file as this one: a source in tests, otherwise a built file.
  return { module: new URL(`./keep-leases${extname(new URL(import.meta.url).pathname)}`, import.meta.url), options };
}

/** Why the work of this process ended, if that is an error. */
export function stopError(stopped: StopReason, out: string | undefined): Result<void, CliError> {
  switch (stopped.kind) {
    case "Done":
    case "Aborted":
      return ok(undefined);
    case "RunTerminal":
      if (stopped.status === "Done") return ok(undefined);
      return fail(
        "RunEnded",
        `the run was ended by another process (${stopped.status}): the same command with --again starts over.`,
      );
    case "RunMissing":
      return fail("RunNotFound", "the run was deleted by another process: the same command starts it again.");
    case "StoreFailed":
      return err(coordSentence(stopped.error));
    case "SourceFailed":
      return fail(
        "SourceUnreadable",
        `${sourceReason(stopped.cause)}, and it did not come back: check the source, then run the same command again; nothing was lost.`,
      );
    case "TooManyFailures":
      return fail(
        "TooManyFailures",
        `${stopped.failures} items failed, more than --max-failures allows, so the run was stopped and is not finished: \`gossip failures RUN\` lists them; fix their cause or raise the limit, then run the same command again.`,
      );
    case "SinkFailed":
      return err(thrownSentence(Redacted.reveal(stopped.cause), out));
  }
}
