// One worker process: claims shards of the run until there are none, and hashes their files.
import { setTimeout } from "node:timers/promises";
import { ndjsonSink, runWorkers, type FileItem, type WorkerEvent } from "@gossip/worker";
import { hashFile, type FileHash } from "./hash-file.ts";
import { openJob, type Job } from "./job.ts";

export async function work(
  job: Job,
  { name, slowMs }: { readonly name: string; readonly slowMs: number },
): Promise<number> {
  const { store, coordinator, run, source } = await openJob(job);
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  // The lead process is gone: give the shards back, so that the next start need not wait for their leases.
  process.once("disconnect", () => stop.abort());

  const summary = await runWorkers<FileItem, FileHash>({
    coordinator,
    run,
    source,
    process: async (item, { signal }) => {
      if (slowMs > 0) await setTimeout(slowMs, undefined, { signal });
      return hashFile(item);
    },
    // Results become true together with the progress, in one write, so each counts once.
    sink: ndjsonSink({ path: job.out }),
    itemConcurrency: 4,
    checkpointEvery: { items: 100, ms: 500 },
    signal: stop.signal,
    onEvent: (event) => say(name, event),
  });
  await store.close();
  console.log(`${name}: ${summary.items} files, then ${summary.stopped.kind}`);
  if (process.connected) process.disconnect();
  return summary.stopped.kind === "Done" || summary.stopped.kind === "RunTerminal" ? 0 : 1;
}

function say(name: string, event: WorkerEvent): void {
  if (event.kind === "ShardClaimed")
    console.log(`${name}: claimed shard ${event.shard}${event.isResumed ? ", and goes on where another was" : ""}`);
  if (event.kind === "ShardCheckpointed") console.log(`${name}: stored ${event.items} files of shard ${event.shard}`);
  if (event.kind === "ShardParked") console.log(`${name}: parked shard ${event.shard} (${event.reason})`);
  if (event.kind === "LeaseLost") console.log(`${name}: lost shard ${event.shard} (${event.cause}); another does it`);
}
