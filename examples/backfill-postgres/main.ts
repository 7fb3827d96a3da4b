// DATABASE_URL=postgres://… node main.ts [--workers N] [--slow MS]
import { parseArgs } from "node:util";
import { withDemoDatabase } from "./demo-database.ts";
import { lead } from "./lead.ts";
import { work } from "./work.ts";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "3" },
    /** Milliseconds to wait before each row: time for you to kill a worker. */
    slow: { type: "string", default: "0" },
    /** Given by the leader to the processes that it starts. */
    worker: { type: "string" },
  },
});
const workerCount = Number(values.workers);
const url = process.env["DATABASE_URL"];

if (url === undefined) process.exitCode = await withDemoDatabase((demoUrl) => lead(demoUrl, { workerCount }));
else if (values.worker === undefined) process.exitCode = await lead(url, { workerCount });
else process.exitCode = await work(url, { name: `worker ${values.worker}`, slowMs: Number(values.slow) });
