// The job: every line of the manifest once, a few requests at a time, and from where it was when it is started again.
import { rm } from "node:fs/promises";
import { OpId, RunId, TenantId } from "@gossip/contracts";
import { Coordinator, ShardFilter, systemClock, type RunRequest } from "@gossip/coordination";
import { lmdbOpenErrorMessage, openLmdbStore } from "@gossip/coordination-lmdb";
import { Redacted, unwrap } from "@gossip/stdx";
import {
  assembleNdjson,
  linesSource,
  ndjsonSink,
  runWorkers,
  sinkTokens,
  startRun,
  startRunErrorMessage,
  type LineItem,
  type Source,
  type WorkerEvent,
} from "@gossip/worker";
import { fetchPage, type Page } from "./fetch-page.ts";

export interface CrawlOptions {
  readonly manifest: string;
  /** What the manifest's paths are relative to. */
  readonly site: string;
  readonly out: string;
}

const RUN: RunRequest = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
/** Eight requests at a time, and no more: each of two shards has four of its lines in hand. */
const POLITENESS = { concurrency: 2, itemConcurrency: 4 };
/** After a failure: wait a tenth of a second, then twice as long each time; give up after the fourth. */
const RETRY = { maxAttempts: 4, baseMs: 100, maxMs: 10_000 };

/** Answers the exit code: 0 where every line is done. */
export async function crawl({ manifest, site, out }: CrawlOptions): Promise<number> {
  const folder = `${out}.store`;
  const opened = await openLmdbStore({ path: folder });
  if (!opened.ok) throw new Error(`the store in ${folder} cannot be opened: ${lmdbOpenErrorMessage(opened.error)}`);
  const store = opened.value;
  const coordinator = new Coordinator({
    store,
    clock: systemClock(Date.now),
  });
  const source = linesSource({ path: manifest });
  try {
    const started = await startRun({
      coordinator,
      run: RUN,
      source,
      config: { leaseDuration: 5_000n },
      shardCount: 8,
      connectorExtra: new TextEncoder().encode(manifest),
    });
    if (!started.ok) {
      console.error(`Cannot start: ${startRunErrorMessage(started.error)}`);
      return 1;
    }
    if (started.value.kind === "Joined") await bringBack(coordinator);

    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    const summary = await runWorkers<LineItem, Page | undefined>({
      coordinator,
      run: RUN,
      source,
      process: ({ line }, { signal }) => (line === "" ? undefined : fetchPage(line, site, signal)),
      // `undefined` writes nothing: an empty line is no result.
      sink: ndjsonSink({ path: out, toRecord: ({ line }, page) => page && { address: line, ...page } }),
      ...POLITENESS,
      retry: RETRY,
      checkpointEvery: { items: 5 },
      signal: stop.signal,
      onEvent: say,
    });
    console.log(`${summary.items} lines are done, ${summary.retries} requests were made again`);
    if (!(await isFinished(coordinator, source))) return 1;
    const tokens = unwrap(await sinkTokens(coordinator, RUN));
    unwrap(await assembleNdjson({ path: out, run: RUN.run, tokens }));
  } finally {
    await store.close();
  }
  await rm(folder, { recursive: true, force: true });
  console.log(`every page is in ${out}`);
  return 0;
}

/** Unpark everything: starting the crawl again means that the cause is gone. */
async function bringBack(coordinator: Coordinator): Promise<void> {
  const parked = unwrap(await coordinator.listShards({ ...RUN, filter: ShardFilter.PARKED, limit: 1000 }));
  for (const { shard } of parked.items)
    unwrap(await coordinator.unpark({ tenant: RUN.tenant, key: { run: RUN.run, shard }, opId: OpId.random() }));
  console.log(`going on; ${parked.items.length} parked shards were brought back`);
}

async function isFinished(coordinator: Coordinator, source: Source<LineItem>): Promise<boolean> {
  const left = unwrap(await coordinator.listShards({ ...RUN, limit: 1000 })).items.filter(
    ({ status }) => status === "Active" || status === "Parked",
  );
  for (const { shard, parkReason, lastKey, keyRangeStart } of left) {
    const place =
      lastKey === undefined
        ? `from ${source.describeKey!(keyRangeStart)} on`
        : `behind the line at ${source.describeKey!(lastKey)}`;
    console.log(
      `left: shard ${shard}, ${place} of the manifest${parkReason === undefined ? "" : `: parked, ${parkReason}`}`,
    );
  }
  return left.length === 0;
}

function say(event: WorkerEvent): void {
  if (event.kind === "ItemFailed") {
    // Hidden from logs, because it may quote anything. This one is ours.
    const { message } = Redacted.reveal(event.cause) as Error;
    console.log(
      event.willRetry
        ? `${message}; again in ${Math.round(event.waitMs)} ms`
        : `${message}; given up, and its shard is parked`,
    );
  }
  if (event.kind === "ShardCheckpointed") console.log(`stored ${event.items} lines of shard ${event.shard}`);
}
