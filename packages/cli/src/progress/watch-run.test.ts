// The process that works on a run of very many shards must not read all of them to show where it is, or show nothing.
import { WorkerId } from "@gossip/contracts";
import { readHistory } from "@gossip/insight";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { DONE_EVERY, MANY, openCounted, request } from "../run/inspect/large-run.fixture.ts";
import { readOverview } from "../run/inspect/run-overview.ts";
import { HistoryKeeper } from "./history-keeper.ts";
import { OwnWork } from "./own-work.ts";
import type { ProgressView, RunProgressShown } from "./run-progress.ts";
import { watchRun, type RunWatch, type WatchOptions } from "./watch-run.ts";

const worker = WorkerId.fromRaw(9n);
const own = new OwnWork(() => 0);

const before = { totals: { items: 0, failed: 0, unreadable: 0 } };

function startWatching(
  options: Pick<WatchOptions, "opened" | "history">,
  shows: Pick<ProgressView, "show" | "showEnd">,
): RunWatch {
  const view = { everyMs: 20, ...shows } as ProgressView;
  return watchRun({ ...options, request, source: {}, view, worker, before, own, isStopping: () => false });
}

/** Watches until `isEnough`, then ends. Returns what was shown last. */
async function watch(
  options: Pick<WatchOptions, "opened" | "history">,
  isEnough: (shown: RunProgressShown) => boolean,
): Promise<RunProgressShown> {
  let watching: RunWatch | undefined;
  const shown = await new Promise<RunProgressShown>((resolve) => {
    const show = (progress: RunProgressShown): void => (isEnough(progress) ? resolve(progress) : undefined);
    watching = startWatching(options, { show, showEnd: show });
  });
  await watching!.end();
  return shown;
}

test.each([
  ["with a parked shard is not shown as done", 1],
  ["whose shards are all done is", 0],
])("the end of a run %s", async (_what, parked) => {
  const { opened } = await openCounted(4 * DONE_EVERY);
  const overview = unwrap(await readOverview(opened, request));
  const states = { ...overview.states, leased: 0, waiting: 0, parked };
  const ends: RunProgressShown[] = [];
  const watching = startWatching({ opened }, { show: () => {}, showEnd: (shown) => void ends.push(shown) });
  watching.showEnd({ ...overview, states });
  await watching.end();
  expect(ends.map(({ fraction }) => fraction === 1)).toEqual([parked === 0]);
});

test("the progress of very many shards is shown from a sample", async () => {
  const { opened, items, reads } = await openCounted(MANY);
  const { overview, fraction } = await watch({ opened }, () => true);
  expect(reads()).toBeLessThan(MANY / 2);
  expect(overview.states.done).toBe(MANY / DONE_EVERY);
  expect(Math.abs(overview.totals.items - items)).toBeLessThan(4 * overview.sample!.itemsError!);
  expect(fraction).toBeCloseTo(1 / DONE_EVERY, 2);
  // The worker that holds shards is another one.
  expect(overview.holders.has(worker)).toBe(false);
});

test("the history of very many shards comes from a pass over all of them", async () => {
  const { opened, store, reads } = await openCounted(MANY);
  const history = new HistoryKeeper({ store, request, leaseMs: 30_000, worker, own });
  let addedCount = 0;
  const add: HistoryKeeper["add"] = async (look, figures) => {
    await history.add(look, figures);
    addedCount++;
  };
  const counted = { add, end: () => history.end() } as HistoryKeeper;
  const { overview } = await watch({ opened, history: counted }, () => addedCount > 0);
  expect(overview.sample).toBeDefined();
  // Once to find out where the shards are, once to count them.
  expect(reads()).toBeGreaterThan(2 * MANY);
  expect((await readHistory(store, request))?.writer).toBeDefined();
});
