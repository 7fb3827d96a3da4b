import { RunId, RunStatus } from "@gossip/contracts";
import type { RunLookup, RunRequest } from "@gossip/coordination";
import { assert, err, ok, type Result } from "@gossip/stdx";
import type { CliError } from "../../output/cli-error.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { failurePages } from "../inspect/read-notes.ts";
import { readSettings } from "../inspect/run-overview.ts";
import { coordSentence } from "../report/coord-sentence.ts";
import type { RunOverview } from "../inspect/run-overview.ts";
import { isFlawless } from "../results/item-totals.ts";
import { namedRunId } from "../start/run-settings.ts";
import { failuresLeft } from "./failures-left.ts";
import { mayHaveFolders, rangeToRetry, sourceNameOf } from "./range-to-retry.ts";

/** A retry of a run's failures. It is a run of its own. */
export interface Retry {
  /** 1 for the first retry. */
  readonly number: number;
  readonly name: string;
  readonly request: RunRequest;
  /** Whether it was started before and has not ended. */
  readonly isOpen: boolean;
  /** The retries before it that are done, in order. */
  readonly doneRetries: readonly RunRequest[];
}

/** A run, and what decides which keys its failures stand for. */
export interface FailedRun {
  readonly request: RunRequest;
  /** The name of its source. */
  readonly sourceName: string | undefined;
}

/** How many keys to remove from the ledger at a time. */
const RESOLVE_AT_ONCE = 256;

function retryAt({ tenant, run }: RunRequest, number: number): Pick<Retry, "number" | "name" | "request"> {
  const name = `${RunId.format(run)}-retry-${number}`;
  return { number, name, request: { tenant, run: namedRunId(name, 0) } };
}

type FoundRetry = ReturnType<typeof retryAt> & { readonly lookup: RunLookup };

/** The retries of a run, in order, and last the next one, which is missing. */
async function* retriesOf(
  opened: OpenedStore,
  request: RunRequest,
): AsyncGenerator<Result<FoundRetry, CliError>, void> {
  for (let number = 1; ; number++) {
    const retry = retryAt(request, number);
    const lookup = await opened.coordinator.lookUpRun(retry.request);
    if (!lookup.ok) return yield err(coordSentence(lookup.error));
    yield ok({ ...retry, lookup: lookup.value });
    if (lookup.value.kind === "Missing") return;
  }
}

/**
 * The retry of a run to work on: the one that was started and has not ended, otherwise the next.
 *
 * What an ended retry finished is removed from the run's failures first, in case the process that finished it could not.
 */
export async function findRetry(opened: OpenedStore, run: FailedRun): Promise<Result<Retry, CliError>> {
  const doneRetries: RunRequest[] = [];
  for await (const found of retriesOf(opened, run.request)) {
    if (!found.ok) return found;
    const { lookup, ...retry } = found.value;
    if (lookup.kind === "Deleted") continue;
    const isOpen = lookup.kind === "Found" && !RunStatus.isTerminal(lookup.record.status);
    if (isOpen || lookup.kind === "Missing") return ok({ ...retry, isOpen, doneRetries });
    const resolved = await resolveRetried(opened, run, retry.request);
    if (!resolved.ok) return resolved;
    if (lookup.record.status === "Done") doneRetries.push(retry.request);
  }
  assert(false, "the retries of a run end with a missing one");
}

/**
 * Remove the items that a retry finished from the failures of the run. Does nothing unless the retry is done. Repeating
 * it is harmless: no item becomes a failure of an ended run again.
 *
 * A folder that could not be read is removed if nothing below it failed in the retry, under whatever key.
 */
export async function resolveRetried(
  opened: OpenedStore,
  { request, sourceName }: FailedRun,
  retry: RunRequest,
): Promise<Result<void, CliError>> {
  const record = await opened.coordinator.getRun(retry);
  if (!record.ok) return err(coordSentence(record.error));
  if (record.value.status !== "Done") return ok();
  const stillFailing = new Set<string>();
  for await (const page of failurePages(opened, retry)) {
    if (!page.ok) return page;
    for (const { key } of page.value) stillFailing.add(Buffer.from(key).toString("hex"));
  }
  const resolved: Uint8Array[] = [];
  for await (const page of failurePages(opened, request)) {
    if (!page.ok) return page;
    for (const failure of page.value) {
      if (stillFailing.has(Buffer.from(failure.key).toString("hex"))) continue;
      const range = rangeToRetry(sourceName, failure);
      if (range.isFolder) {
        const below = await opened.coordinator.listFailures({ ...retry, range, limit: 1 });
        if (!below.ok) return err(coordSentence(below.error));
        if (below.value.items.length > 0) continue;
      }
      resolved.push(failure.key);
    }
  }
  for (let at = 0; at < resolved.length; at += RESOLVE_AT_ONCE) {
    const keys = resolved.slice(at, at + RESOLVE_AT_ONCE);
    const removed = await opened.coordinator.resolveFailures({ ...request, keys });
    if (!removed.ok) return err(coordSentence(removed.error));
  }
  return ok();
}

/** How many failures of a run are left: those that `gossip failures` lists. */
export async function countFailuresLeft(opened: OpenedStore, request: RunRequest): Promise<Result<number, CliError>> {
  const counted = await opened.coordinator.countFailures(request);
  if (!counted.ok) return err(coordSentence(counted.error));
  if (counted.value === 0) return ok(0);
  const doneRetries = await findDoneRetries(opened, request);
  if (!doneRetries.ok) return doneRetries;
  if (doneRetries.value.length === 0) return counted;
  const record = await opened.coordinator.getRun(request);
  if (!record.ok) return err(coordSentence(record.error));
  const settings = await readSettings(opened, record.value);
  if (!settings.ok) return settings;
  const sourceName = sourceNameOf(settings.value?.source);
  // Otherwise each failure is one item.
  if (!mayHaveFolders(sourceName)) return counted;
  let count = 0;
  for await (const page of failuresLeft({ opened, request, sourceName, doneRetries: doneRetries.value })) {
    if (!page.ok) return page;
    count += page.value.length;
  }
  return ok(count);
}

/** The retries of a run that are done, in order. */
export async function findDoneRetries(
  opened: OpenedStore,
  request: RunRequest,
): Promise<Result<readonly RunRequest[], CliError>> {
  const doneRetries: RunRequest[] = [];
  for await (const found of retriesOf(opened, request)) {
    if (!found.ok) return found;
    const { lookup, request: retry } = found.value;
    if (lookup.kind === "Found" && lookup.record.status === "Done") doneRetries.push(retry);
  }
  return ok(doneRetries);
}

/** How many items of an ended run failed and were not retried with success. */
export async function remainingFailures(
  opened: OpenedStore,
  request: RunRequest,
  { totals, sample }: Pick<RunOverview, "totals" | "sample">,
): Promise<Result<number, CliError>> {
  // A sample without a failure does not mean that there is none.
  if (isFlawless(totals) && sample === undefined) return ok(0);
  const counted = await countFailuresLeft(opened, request);
  if (!counted.ok) return counted;
  if (counted.value > 0) return ok(counted.value);
  // Runs of versions before 0.2 have no ledger. Their failures only count as resolved if there was a retry.
  const first = await opened.coordinator.lookUpRun(retryAt(request, 1).request);
  if (!first.ok) return err(coordSentence(first.error));
  return ok(first.value.kind === "Missing" ? totals.failed + totals.unreadable : 0);
}
