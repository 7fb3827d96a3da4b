// One worker process: claims shards of the table until there are none, and writes the new column of their rows.
import { setTimeout } from "node:timers/promises";
import { runWorkers, type WorkerEvent } from "@gossip/worker";
import { BATCH_SIZE, openJob, SLOW_BATCH_SIZE } from "./job.ts";
import { writeEmailKeys } from "./write-email-key.ts";

export async function work(
  url: string,
  { name, slowMs }: { readonly name: string; readonly slowMs: number },
): Promise<number> {
  const { pool, coordinator, run, source } = await openJob(url);
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  // The lead process is gone: give the shards back, so that the next start need not wait for their leases.
  process.once("disconnect", () => stop.abort());

  let refused = 0;
  const summary = await runWorkers({
    coordinator,
    run,
    source,
    processBatch: async (items, { writeFence, signal }) => {
      if (slowMs > 0) await setTimeout(slowMs, undefined, { signal });
      const rows = items.map(({ row }) => row);
      refused += rows.length - (await writeEmailKeys(pool, rows, writeFence));
      return undefined;
    },
    // With a pause, few rows at a time, so that there is time to watch.
    batchSize: slowMs > 0 ? SLOW_BATCH_SIZE : BATCH_SIZE,
    checkpointEvery: { items: 50, ms: 500 },
    signal: stop.signal,
    onEvent: (event) => say(name, event),
  });
  await pool.end();
  console.log(`${name}: ${summary.items} rows, ${refused} refused, then ${summary.stopped.kind}`);
  if (process.connected) process.disconnect();
  return summary.stopped.kind === "Done" || summary.stopped.kind === "RunTerminal" ? 0 : 1;
}

function say(name: string, event: WorkerEvent): void {
  if (event.kind === "ShardClaimed") console.log(`${name}: claimed shard ${event.shard} with fence ${event.fence}`);
  if (event.kind === "ShardCheckpointed") console.log(`${name}: stored ${event.items} rows of shard ${event.shard}`);
  if (event.kind === "ShardParked") console.log(`${name}: parked shard ${event.shard} (${event.reason})`);
  if (event.kind === "LeaseLost") console.log(`${name}: lost shard ${event.shard} (${event.cause}); another does it`);
}
