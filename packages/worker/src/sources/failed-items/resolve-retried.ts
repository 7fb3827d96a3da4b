import type { RunRecord } from "@gossip/coordination";
import { ShardFilter, type CoordinatorApi, type RunRequest, type ShardPosition } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import { keySuccessor } from "@gossip/frontier";
import { encodeBase64Url } from "@gossip/stdx/internal";
import { compareBytes, ok, type Result } from "@gossip/stdx";

export interface ResolveRetriedRequest {
  readonly coordinator: CoordinatorApi;
  /** The run whose items were retried. */
  readonly original: RunRequest;
  /** The run on `failedItems` of the original. */
  readonly retry: RunRequest;
}

export interface ResolvedFailures {
  /** Items that succeeded and are no longer on record. */
  readonly resolved: number;
  /** Items that failed again. They stay on record. */
  readonly failedAgain: number;
}

const PAGE_SIZE = 256;
const NO_BOUND = /* @__PURE__ */ new Uint8Array(0);

/** Keys from `start` on that a shard of the retry is done with. */
interface DoneRange {
  readonly start: Uint8Array;
  /** The end of the range, not included. Empty if there is none. */
  readonly end: Uint8Array;
  /** The last key that is done. `undefined` if all are. */
  readonly lastKey: Uint8Array | undefined;
}

/**
 * Remove the items from the ledger of the original run that a retry has processed successfully so far.
 *
 * Call it when the work of the retry ends, whether it is finished or interrupted. Repeating it does no harm. It reads the
 * stored progress of the retry, so an item is removed only if its success is stored too. Failures that the original run
 * recorded after the retry was created stay.
 */
export async function resolveRetried(request: ResolveRetriedRequest): Promise<Result<ResolvedFailures, GetRunError>> {
  const { coordinator, retry } = request;
  const run = await coordinator.getRun(retry);
  if (!run.ok) return run;
  let [resolved, failedAgain] = [0, 0];
  let after: ShardPosition | undefined;
  do {
    const page = await coordinator.listShards({ ...retry, filter: ShardFilter.ALL, limit: PAGE_SIZE, after });
    if (!page.ok) return page;
    for (const { status, keyRangeStart: start, keyRangeEnd: end, lastKey } of page.value.items) {
      const isUntouched = status !== "Done" && lastKey === undefined;
      if (status === "Split" || isUntouched) continue;
      const done = { start, end, lastKey: status === "Done" ? undefined : lastKey };
      const counts = await resolveRange(request, run.value, done);
      if (!counts.ok) return counts;
      resolved += counts.value.resolved;
      failedAgain += counts.value.failedAgain;
    }
    after = page.value.next;
  } while (after !== undefined);
  return ok({ resolved, failedAgain });
}

async function resolveRange(
  { coordinator, original, retry }: ResolveRetriedRequest,
  { createdAt }: RunRecord,
  { start, end, lastKey }: DoneRange,
): Promise<Result<ResolvedFailures, GetRunError>> {
  let [resolved, failedAgain] = [0, 0];
  let after: Uint8Array | undefined;
  do {
    const page = await coordinator.listFailures({ ...original, range: { start, end }, after, limit: PAGE_SIZE });
    if (!page.ok) return page;
    const isDone = (key: Uint8Array): boolean => lastKey === undefined || compareBytes(key, lastKey) <= 0;
    const tried = page.value.items.filter(({ key, at }) => at <= createdAt && isDone(key));
    const again = await failedOf(coordinator, retry, tried);
    if (!again.ok) return again;
    const keys = tried.map(({ key }) => key).filter((key) => !again.value.has(encodeBase64Url(key)));
    if (keys.length > 0) {
      const removed = await coordinator.resolveFailures({ ...original, keys });
      if (!removed.ok) return removed;
    }
    resolved += keys.length;
    failedAgain += tried.length - keys.length;
    after = page.value.next;
  } while (after !== undefined);
  return ok({ resolved, failedAgain });
}

/** Which of these items, given in key order, the retry has on record as failed. */
async function failedOf(
  coordinator: CoordinatorApi,
  retry: RunRequest,
  items: readonly { readonly key: Uint8Array }[],
): Promise<Result<ReadonlySet<string>, GetRunError>> {
  const failed = new Set<string>();
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) return ok(failed);
  const range = { start: first.key, end: keySuccessor(last.key) ?? NO_BOUND };
  let after: Uint8Array | undefined;
  do {
    const page = await coordinator.listFailures({ ...retry, range, after, limit: PAGE_SIZE });
    if (!page.ok) return page;
    for (const { key } of page.value.items) failed.add(encodeBase64Url(key));
    after = page.value.next;
  } while (after !== undefined);
  return ok(failed);
}
