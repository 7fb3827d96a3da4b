import { extname } from "node:path";
import type { RunConfigInput } from "@gossip/coordination";
import { err, ok, Redacted, type Result } from "@gossip/stdx";
import {
  ndjsonSink,
  runWorkers,
  SourceReadFailed,
  type Item,
  type KeepLeases,
  type StopReason,
  type WorkerEvent,
  type WorkerProgress,
  type WorkerSummary,
} from "@gossip/worker";
import { fail, type CliError } from "../../output/cli-error.ts";
import { formatDuration } from "../../output/number-words.ts";
import { printable, printableText } from "../../output/printable.ts";
import type { ProgressView } from "../../progress/run-progress.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import type { StopSignal } from "../../stop-signal.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import { countingSink } from "../results/counting-sink.ts";
import { isFailure, recordOf, type ItemResult } from "../results/item-result.ts";
import type { JobSource } from "../source/job-source.ts";
import type { JobWork } from "./job-work.ts";
import type { KeepLeasesOptions } from "./keep-leases.ts";
import type { RunNumbers } from "../start/run-flags.ts";
import { formatShardId } from "../inspect/run-reference.ts";
import { thrownSentence } from "../results/out-file.ts";
import type { Started } from "../start/start-or-join.ts";

export interface JobOptions {
  readonly opened: OpenedStore;
  readonly tso: readonly string[] | undefined;
  readonly started: Started;
  readonly jobSource: JobSource;
  readonly work: JobWork;
  readonly out: string | undefined;
  readonly numbers: RunNumbers;
  readonly view: ProgressView;
  readonly stop: StopSignal;
  readonly onProgress: (progress: WorkerProgress) => void;
}

/** Acquisitions of a shard without any progress before it is set aside: an item that kills its process must not go round forever. */
const MAX_SHARD_RETRIES = 50;
/** After so many failures only the count goes on. */
const MAX_SHOWN_FAILURES = 20;
/** From here on a module that does not let others have their turn is worth a word. */
const LONG_BLOCK_MS = 1000;
/** The longest is for a module whose server says when to come back: pauses of our own are as long only after ten failures. */
const RETRY_PAUSE = { baseMs: 100, maxMs: 60_000 } as const;

export function runConfig({ leaseMs }: RunNumbers): RunConfigInput {
  return { leaseDuration: BigInt(leaseMs), maxShardRetries: MAX_SHARD_RETRIES };
}

/** Work until nothing is left, or somebody says stop. The answer is what this process did. */
export function runJob(options: JobOptions): Promise<WorkerSummary> {
  const { opened, started, jobSource, work, numbers, view, stop, out, onProgress } = options;
  const inner =
    out === undefined
      ? undefined
      : ndjsonSink<Item, ItemResult>({
          path: out,
          toRecord: (item, result) => recordOf(jobSource.fieldsOf(item), result),
        });
  return runWorkers<Item, ItemResult>({
    coordinator: opened.coordinator,
    run: started.request,
    source: jobSource.source,
    process: tellingFailures(options),
    concurrency: numbers.workers,
    signal: stop.signal,
    graceMs: numbers.graceMs,
    sink: countingSink(isFailure, inner),
    retry: { maxAttempts: numbers.maxAttempts, ...RETRY_PAUSE },
    onProgress,
    onEvent: tellingEvents(jobSource, view),
    ...(work.mayBlock ? { keepLeases: keeperOf(options) } : {}),
  });
}

/** The work, and a word about what fails for good. */
function tellingFailures({ work, jobSource, view, out }: JobOptions): JobWork["process"] {
  let failures = 0;
  const tell = (item: Item, result: ItemResult): ItemResult | Promise<ItemResult> => {
    if (result.failure !== undefined && ++failures <= MAX_SHOWN_FAILURES) {
      view.failed({
        item: printable(jobSource.argumentOf(item)),
        failure: result.failure,
        stderr: result.kind === "Exec" ? lastLine(result.stderr.bytes) : "",
      });
      if (failures === MAX_SHOWN_FAILURES)
        view.say(
          `more may fail; ${out === undefined ? "name a file with --out to have them all" : "all are in --out"}`,
        );
    }
    if (out !== undefined || result.kind !== "Exec") return result;
    const isRead = view.passOn({
      stdout: result.stdout.bytes,
      stderr: result.failure === undefined ? result.stderr.bytes : new Uint8Array(0),
    });
    // The next item waits until there is room for what it prints: otherwise all of it would pile up in memory before a slow reader.
    return isRead === undefined ? result : isRead.then(() => result);
  };
  return (item, context) => {
    const result = work.process(item, context);
    return result instanceof Promise
      ? result.then((settled: ItemResult) => tell(item, settled))
      : tell(item, result as ItemResult);
  };
}

/** Only what a person may want to act upon. */
function tellingEvents(jobSource: JobSource, view: ProgressView): (event: WorkerEvent) => void {
  let toldMs = LONG_BLOCK_MS / 2;
  return (event) => {
    if (event.kind === "ItemProblem")
      view.say(`passed over ${shownKey(jobSource, event.key)}: ${printableText(event.reason)}`, {
        kind: "problem",
        reason: event.reason,
      });
    // Of an item that is passed over, its result tells.
    if (event.kind === "ItemFailed" && !event.willRetry)
      view.failed({ item: shownKey(jobSource, event.key), failure: reasonOf(event.cause), stderr: "" });
    if (event.kind === "SourceFailed" && !event.willRetry)
      view.say(`shard ${formatShardId(event.shard)} is set aside: ${sourceReason(event.cause)}`, {
        kind: "sourceFailed",
        shard: event.shard,
      });
    if (event.kind === "LeaseLost")
      view.say(`lost shard ${formatShardId(event.shard)} to another worker; what was not stored of it is done again`, {
        kind: "lost",
        shard: event.shard,
        cause: event.cause,
      });
    if (event.kind === "KeeperFailed")
      view.say(
        "leases cannot be renewed while the module keeps this process busy: let it wait now and then, or give --lease more seconds",
        { kind: "keeperFailed" },
      );
    // Told again only where it got worse.
    if (event.kind === "LoopBlocked" && event.ms >= 2 * toldMs) {
      toldMs = event.ms;
      view.say(
        `the module kept this process busy for ${formatDuration(event.ms)} at a stretch; a thread renews its leases meanwhile`,
        { kind: "blocked", ms: Math.round(event.ms) },
      );
    }
  };
}

function keeperOf({ opened, tso }: JobOptions): KeepLeases {
  const options: KeepLeasesOptions = { address: opened.address, tso };
  // The thread loads the same kind of file that this one is: a source in tests, a built one elsewhere.
  return { module: new URL(`./keep-leases${extname(new URL(import.meta.url).pathname)}`, import.meta.url), options };
}

function reasonOf(cause: Redacted<unknown>): string {
  const thrown = Redacted.reveal(cause);
  const [line = ""] = (thrown instanceof Error ? thrown.message : String(thrown)).split("\n");
  return line;
}

function sourceReason(cause: Redacted<unknown>): string {
  const thrown = Redacted.reveal(cause);
  return thrown instanceof SourceReadFailed ? printableText(thrown.error.reason) : "its items could not be read";
}

function shownKey({ source }: JobSource, key: Redacted<Uint8Array>): string {
  const bytes = Redacted.reveal(key);
  return printableText(source.describeKey?.(bytes) ?? Buffer.from(bytes).toString("hex"));
}

function lastLine(bytes: Uint8Array): string {
  const text = printable(Buffer.from(Buffer.from(bytes).toString("utf8").trimEnd().split("\n").at(-1) ?? ""));
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

/** Why the work of this process ended, where that is an error. */
export function stopError(stopped: StopReason, out: string | undefined): Result<void, CliError> {
  switch (stopped.kind) {
    case "Done":
    case "Aborted":
      return ok(undefined);
    case "RunTerminal":
      if (stopped.status === "Done") return ok(undefined);
      return fail(
        "RunEnded",
        `the run was ended by somebody else (${stopped.status}): \`gossip run --again\` starts over.`,
      );
    case "RunMissing":
      return fail("RunNotFound", "the run was deleted by somebody else: the same command starts it anew.");
    case "StoreFailed":
      return err(coordSentence(stopped.error));
    case "SinkFailed":
      return err(thrownSentence(Redacted.reveal(stopped.cause), out));
  }
}
