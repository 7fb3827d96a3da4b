import type { RunRequest } from "@gossip/coordination";
import type { WorkerId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";
import { SourceReadFailed, type WorkerEvent } from "@gossip/worker";
import { countOf, formatDuration } from "../../output/number-words.ts";
import { printableText } from "../../output/printable.ts";
import type { ProgressView } from "../../progress/run-progress.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { formatShardId } from "../inspect/run-reference.ts";
import type { JobSource } from "../source/job-source.ts";
import { reportLostShard } from "./lost-shard.ts";

export interface EventPrinterOptions {
  readonly opened: Pick<OpenedStore, "coordinator" | "clock">;
  readonly request: RunRequest;
  /** The id of this process. */
  readonly worker: WorkerId;
  readonly jobSource: JobSource;
  readonly view: ProgressView;
}

/** Report a module that blocks the event loop for this long. */
const LONG_BLOCK_MS = 1000;

/** Returns a function that prints the events that users may want to act on. */
export function eventPrinter(options: EventPrinterOptions): (event: WorkerEvent) => void {
  const { jobSource, view } = options;
  let reportedMs = LONG_BLOCK_MS / 2;
  /** The leases that ended while the store did not respond. `undefined` if it does. */
  let endedLeases: number | undefined;
  return (event) => {
    if (event.kind === "ItemProblem")
      view.say(`passed over ${shownKey(jobSource, event.key)}: ${printableText(event.reason)}`, {
        kind: "problem",
        reason: event.reason,
      });
    if (event.kind === "SourceFailed" && !event.willRetry)
      view.say(`shard ${formatShardId(event.shard)} is set aside: ${sourceReason(event.cause)}`, {
        kind: "sourceFailed",
        shard: event.shard,
      });
    if (event.kind === "StoreUnavailable") {
      endedLeases ??= 0;
      view.say("the store does not respond; the work waits for it", { kind: "unavailable", what: "store" });
    }
    if (event.kind === "SourceUnavailable")
      view.say("the source does not respond; the work waits for it", { kind: "unavailable", what: "source" });
    if (event.kind === "StoreBack") {
      const ended = endedLeases ?? 0;
      endedLeases = undefined;
      const meanwhile =
        ended === 0
          ? ""
          : `; ${countOf(ended, "lease")} ended meanwhile, and items that were not stored are done again`;
      view.say(`the store responds again, after ${formatDuration(event.afterMs)}${meanwhile}`, {
        kind: "back",
        what: "store",
        endedLeases: ended,
      });
    }
    if (event.kind === "SourceBack")
      view.say(`the source responds again, after ${formatDuration(event.afterMs)}`, { kind: "back", what: "source" });
    if (event.kind === "SinkUnavailable")
      view.say("the disk of the results is full; the work waits for room", { kind: "unavailable", what: "results" });
    if (event.kind === "SinkBack")
      view.say(`the disk of the results has room again, after ${formatDuration(event.afterMs)}`, {
        kind: "back",
        what: "results",
      });
    if (event.kind === "RunPaused")
      view.say("the run is paused: items in progress finish, then this process waits; `gossip resume RUN` continues", {
        kind: "paused",
      });
    if (event.kind === "RunResumed")
      view.say(`the run is resumed, after ${formatDuration(event.afterMs)}`, { kind: "resumed" });
    // While the store does not respond, no one can take a shard, and all leases end: one message is enough.
    if (event.kind === "LeaseLost" && endedLeases !== undefined) endedLeases++;
    else if (event.kind === "LeaseLost") void reportLostShard(event, options);
    if (event.kind === "KeeperFailed")
      view.say(
        "leases cannot be renewed while the module keeps this process busy: let it wait now and then, or give --lease more seconds",
        { kind: "keeperFailed" },
      );
    // Report again only if it got worse.
    if (event.kind === "LoopBlocked" && event.ms >= 2 * reportedMs) {
      reportedMs = event.ms;
      view.say(
        `the module kept this process busy for ${formatDuration(event.ms)}; a thread renews its leases meanwhile`,
        { kind: "blocked", ms: Math.round(event.ms) },
      );
    }
  };
}

/** Why the source cannot be read, for users. */
export function sourceReason(cause: Redacted<unknown>): string {
  const thrown = Redacted.reveal(cause);
  return thrown instanceof SourceReadFailed ? printableText(thrown.error.reason) : "its items could not be read";
}

function shownKey({ source }: JobSource, key: Redacted<Uint8Array>): string {
  const bytes = Redacted.reveal(key);
  return printableText(source.describeKey?.(bytes) ?? Buffer.from(bytes).toString("hex"));
}
