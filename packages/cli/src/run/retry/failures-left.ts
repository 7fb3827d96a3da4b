import type { ItemFailure, RunRequest } from "@gossip/coordination";
import { ok, type Result } from "@gossip/stdx";
import type { CliError } from "../../output/cli-error.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { failurePages } from "../inspect/read-notes.ts";
import { commonRange, endsBy, later, laterEnd, rangeToRetry, type RetryRange } from "./range-to-retry.ts";

export interface FailuresLeftRequest {
  readonly opened: Pick<OpenedStore, "coordinator">;
  /** The run whose failures these are. */
  readonly request: RunRequest;
  /** The name of its source. */
  readonly sourceName: string | undefined;
  /** Its retries that are done, in order. */
  readonly doneRetries: readonly RunRequest[];
}

/** A failure, and the keys that it stands for. */
export interface FailureLeft {
  readonly failure: ItemFailure;
  readonly range: RetryRange;
}

/**
 * What failed in a run and did not succeed in a retry, by key, page by page.
 *
 * A folder that could not be read is one failure of the run, and stays in its ledger until nothing below it fails. Once
 * a retry has read the folder, the failures of that retry below it take its place here, and then those of the next
 * retry: only they are left. Without such a retry, for example because it was deleted, the whole folder is.
 */
export function failuresLeft(given: FailuresLeftRequest): FailurePages {
  return leftIn(given, [given.request, ...given.doneRetries], undefined);
}

type FailurePages = AsyncGenerator<Result<readonly FailureLeft[], CliError>, void, void>;

/**
 * What is left of the failures in the first ledger. Every other ledger has what failed again of the one before it.
 * `within` is the folder that the first one was found in.
 */
async function* leftIn(
  given: FailuresLeftRequest,
  [ledger, ...later]: readonly RunRequest[],
  within: RetryRange | undefined,
): FailurePages {
  const { opened, sourceName } = given;
  /** The end of the folders that were replaced by what is below them. */
  let replaced: Uint8Array | undefined;
  for await (const page of failurePages(opened, ledger!, within)) {
    if (!page.ok) return yield page;
    let kept: FailureLeft[] = [];
    for (const failure of page.value) {
      const whole = rangeToRetry(sourceName, failure);
      // A folder above this one may have become unreadable. Only this one was to be read.
      const range = within === undefined ? whole : commonRange(whole, within);
      // Folders may overlap, because several shards may have found a part of one.
      const rest = restAfter(range, replaced);
      if (rest === undefined) continue;
      if (!range.isFolder || later.length === 0) {
        kept.push({ failure, range });
        continue;
      }
      yield* stillLeft(given, { kept, later, within });
      kept = [];
      yield* leftIn(given, later, rest);
      replaced = replaced === undefined ? range.end : laterEnd(replaced, range.end);
    }
    yield* stillLeft(given, { kept, later, within });
  }
}

interface Kept {
  readonly kept: readonly FailureLeft[];
  readonly later: readonly RunRequest[];
  readonly within: RetryRange | undefined;
}

/** Which of these failures are left: no folders, and without one between them. */
async function* stillLeft({ opened, sourceName }: FailuresLeftRequest, { kept, later, within }: Kept): FailurePages {
  const [first, last, newest] = [kept[0], kept.at(-1), later.at(-1)];
  if (first === undefined || last === undefined) return;
  // What a retry finished is removed from the ledger of the run itself.
  if (newest === undefined || within === undefined) return yield ok(kept);
  const range = { start: first.range.start, end: last.range.end };
  for await (const page of failurePages(opened, newest, range)) {
    if (!page.ok) return yield page;
    yield ok(page.value.map((failure) => ({ failure, range: commonRange(rangeToRetry(sourceName, failure), range) })));
  }
}

/** The ranges of failures in order, without what an earlier one covers. */
export async function* rangesLeft(
  given: FailuresLeftRequest,
): AsyncGenerator<Result<RetryRange, CliError>, void, void> {
  let covered: Uint8Array | undefined;
  for await (const page of failuresLeft(given)) {
    if (!page.ok) return yield page;
    for (const { range } of page.value) {
      const rest = restAfter(range, covered);
      if (rest === undefined) continue;
      yield ok(rest);
      covered = rest.end;
    }
  }
}

/** The part of a range that is not below the end of another one, if there is such a part. */
function restAfter(range: RetryRange, end: Uint8Array | undefined): RetryRange | undefined {
  if (end === undefined) return range;
  return end.length === 0 || endsBy(range.end, end) ? undefined : { ...range, start: later(range.start, end) };
}
