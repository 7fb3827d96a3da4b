// The process that you start: makes the run or finds it, starts workers, and counts in the end.
import { fork } from "node:child_process";
import { once } from "node:events";
import { OpId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { startRun, startRunErrorMessage } from "@gossip/worker";
import { LEASE_MS, openJob, type OpenJob } from "./job.ts";
import { ADD_COLUMNS } from "./write-email-key.ts";

/** Answers the exit code: 0 where every row has its new value. */
export async function lead(url: string, { workerCount }: { readonly workerCount: number }): Promise<number> {
  const open = await openJob(url);
  try {
    return (await runWith(open, url, workerCount)) ? 0 : 1;
  } finally {
    await open.pool.end();
  }
}

async function runWith(
  { pool, coordinator, run, source }: OpenJob,
  url: string,
  workerCount: number,
): Promise<boolean> {
  // More shards than workers: a worker that is done early takes another, and splits are needed only at the end.
  const started = await startRun({
    coordinator,
    run,
    source,
    config: { leaseDuration: LEASE_MS },
    shardCount: 8 * workerCount,
  });
  if (!started.ok) {
    console.error(`Cannot start: ${startRunErrorMessage(started.error)}`);
    return false;
  }
  console.log(
    started.value.kind === "Created"
      ? "a new run over the table"
      : `the run was begun before and is ${started.value.record.status}: going on`,
  );
  await pool.query(ADD_COLUMNS);

  // Ctrl-C goes to the workers too. They give back what they hold, and then there is nothing to wait for.
  process.on("SIGINT", () => console.log("stopping"));
  await Promise.all(Array.from({ length: workerCount }, (_, index) => runWorkerProcess(url, index + 1)));

  const { rows } = await pool.query<{ all: string; left: string }>(
    `SELECT count(*) AS all, count(*) FILTER (WHERE email_key IS NULL) AS left FROM customers`,
  );
  console.log(`${rows[0]!.all} rows, ${rows[0]!.left} without an email_key`);
  const { active, parked } = unwrap(await coordinator.getRunProgress(run));
  if (active + parked > 0) {
    console.log(`${active} shards are left to do and ${parked} are parked; the same command goes on`);
    return false;
  }
  // Who ended it before us has the same answer.
  void (await coordinator.completeRun({ ...run, opId: OpId.random() }));
  return true;
}

/** This program again, as a worker. Settles when that process is gone, however it went. */
async function runWorkerProcess(url: string, number: number): Promise<void> {
  const child = fork(process.argv[1]!, [...process.argv.slice(2), "--worker", String(number)], {
    env: { ...process.env, DATABASE_URL: url },
  });
  console.log(`worker ${number} is process ${child.pid}`);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (signal !== null) console.log(`worker ${number} was ended by ${signal}; the others take over`);
  else if (code !== 0) console.log(`worker ${number} ended with code ${code}`);
}
