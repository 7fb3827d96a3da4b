// The process that you start: makes the run or finds it, starts workers, and puts the results together.
import { fork } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { unwrap } from "@gossip/stdx";
import { assembleNdjson, sinkTokens, startRun, startRunErrorMessage } from "@gossip/worker";
import { LEASE_MS, openJob, storeFolder, type Job, type OpenJob } from "./job.ts";

/** Answers the exit code: 0 where every file has its line. */
export async function lead(job: Job, { workerCount }: { readonly workerCount: number }): Promise<number> {
  const open = await openJob(job);
  try {
    const isComplete = await runWith(open, job, workerCount);
    if (!isComplete) return 1;
  } finally {
    await open.store.close();
  }
  // The output is complete: the state of the run is no longer needed.
  await rm(storeFolder(job.out), { recursive: true, force: true });
  return 0;
}

async function runWith({ coordinator, run, source }: OpenJob, job: Job, workerCount: number): Promise<boolean> {
  const started = await startRun({
    coordinator,
    run,
    source,
    config: { leaseDuration: LEASE_MS },
    // More than workers, so that what a dead one held is shared out; long shards are split anyway.
    shardCount: 4 * workerCount,
    // Another folder with the same output would be another job.
    connectorExtra: new TextEncoder().encode(job.root),
  });
  if (!started.ok) {
    console.error(`Cannot start: ${startRunErrorMessage(started.error)}`);
    return false;
  }
  console.log(started.value.kind === "Created" ? `a new run over ${job.root}` : "the run was begun before: going on");

  // Ctrl-C goes to the workers too. They give back what they hold, and then there is nothing to wait for.
  process.on("SIGINT", () => console.log("stopping"));
  await Promise.all(Array.from({ length: workerCount }, (_, index) => runWorkerProcess(index + 1)));

  const { active, parked } = unwrap(await coordinator.getRunProgress(run));
  if (active + parked > 0) {
    console.log(`${active} shards are left to do and ${parked} are parked; the same command goes on`);
    return false;
  }
  const tokens = unwrap(await sinkTokens(coordinator, run));
  const assembled = await assembleNdjson({ path: job.out, run: run.run, tokens });
  console.log(
    assembled.ok ? `every file is in ${job.out}` : `The results could not be put together: ${assembled.error.reason}`,
  );
  return assembled.ok;
}

/** This program again, as a worker. Settles when that process is gone, however it went. */
async function runWorkerProcess(number: number): Promise<void> {
  const child = fork(process.argv[1]!, [...process.argv.slice(2), "--worker", String(number)]);
  console.log(`worker ${number} is process ${child.pid}`);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (signal !== null) console.log(`worker ${number} was ended by ${signal}; the others take over`);
  else if (code !== 0) console.log(`worker ${number} ended with code ${code}`);
}
