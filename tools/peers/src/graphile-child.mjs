// Runs graphile-worker for `graphile-worker.ts`, in a process of its own. The jobs are put there in a transaction that is left open, and are
// there for the workers at its commit: what is measured begins with that, and ends when no job is left in the table.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const { url, folder, jobs, workers } = JSON.parse(process.argv[2]);
const load = (path) => import(pathToFileURL(join(folder, "node_modules", path)).href);
const { run, runMigrations, Logger } = await load("graphile-worker/dist/index.js");
const { default: pg } = await load("pg/lib/index.js");

const logger = new Logger(() => () => undefined);
const preset = {
  worker: {
    connectionString: url,
    concurrentJobs: workers,
    maxPoolSize: workers + 1,
    pollInterval: 2000,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger,
  },
};
await runMigrations({ preset });
let done = 0;
let onDone;
const task = async () => {
  if (++done === jobs) onDone();
};
const runner = await run({ preset, taskList: { task }, noHandleSignals: true });
const client = new pg.Client({ connectionString: url });
await client.connect();

const actions = {
  async prepare() {
    done = 0;
    await client.query("BEGIN");
    const text = `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(SELECT json_populate_record(NULL::graphile_worker.job_spec, json_build_object('identifier', 'task', 'payload', json_build_object('index', n))) FROM generate_series(1, $1) n))`;
    await client.query(text, [jobs]);
  },
  async drain() {
    const all = new Promise((resolve) => {
      onDone = resolve;
    });
    await client.query("COMMIT");
    await all;
    while ((await client.query("SELECT FROM graphile_worker.jobs LIMIT 1")).rowCount > 0) await sleep(2);
  },
  async close() {
    await runner.stop();
    await client.end();
  },
};

// What fails ends the process, and with it the bench that waits.
process.on("message", (what) => void actions[what]().then(() => process.send("done")));
process.on("disconnect", () => process.exit());
process.send("ready");
