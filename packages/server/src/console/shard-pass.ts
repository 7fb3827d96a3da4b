import type { Clock, LogicalTime } from "@gossip/contracts";
import type { CoordinationStore, RunRequest, ShardPosition, ShardRecord } from "@gossip/coordination";
import type { PacedWork } from "./paced-work.ts";

/** Reads the shards of a run, in key order. */
export interface ShardPassOptions {
  readonly store: CoordinationStore;
  readonly clock: Clock;
  readonly request: RunRequest;
  readonly pace: PacedWork;
  /** Whether the rest is not needed any more. */
  readonly isClosed: () => boolean;
}

/**
 * Records of one page. A store in this process reads them while everything else waits, the requests of workers too, so
 * a page of it takes two milliseconds. A store elsewhere needs a round trip for each.
 */
const [LOCAL_PAGE, REMOTE_PAGE] = [100, 500];
const POSITIONS_PAGE = 1000;

/** Every shard of a run. Returns `false` if the store failed or the pass was closed: then some were not visited. */
export async function visitShards(
  options: ShardPassOptions,
  visit: (records: readonly ShardRecord[], now: LogicalTime) => void,
): Promise<boolean> {
  const { store, clock, request, pace, isClosed } = options;
  let after: ShardPosition | undefined;
  let limit = LOCAL_PAGE;
  do {
    const now = await clock.now();
    const page = await pace.step(async () => {
      const answer = store.listShards({ ...request, after, limit, filter: {}, now });
      limit = answer instanceof Promise ? REMOTE_PAGE : LOCAL_PAGE;
      return answer;
    });
    if (!page.ok || isClosed()) return false;
    visit(page.value.items, now);
    after = page.value.next;
    await pace.rest();
  } while (after !== undefined);
  return true;
}

/** Where every shard of a run begins. Returns `false` if the store failed, or cannot list positions by themselves. */
export async function visitPositions(
  { store, request, pace, isClosed }: ShardPassOptions,
  visit: (positions: readonly ShardPosition[]) => void,
): Promise<boolean> {
  let after: ShardPosition | undefined;
  do {
    const page = await pace.step(async () => store.listShardPositions?.({ ...request, after, limit: POSITIONS_PAGE }));
    if (page === undefined || !page.ok || isClosed()) return false;
    visit(page.value.items);
    after = page.value.next;
    await pace.rest();
  } while (after !== undefined);
  return true;
}
