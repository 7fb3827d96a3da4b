// node main.ts DIR [--out FILE] [--workers N] [--slow MS]
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { lead } from "./lead.ts";
import { work } from "./work.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: "hashes.ndjson" },
    workers: { type: "string", default: "3" },
    /** Milliseconds to wait before each file: time for you to kill a worker. */
    slow: { type: "string", default: "0" },
    /** Given by the leader to the processes that it starts. */
    worker: { type: "string" },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error("Which folder? node main.ts DIR [--out FILE] [--workers N] [--slow MS]");
  process.exit(2);
}

const job = { root: resolve(folder), out: resolve(values.out) };
if (values.worker === undefined) process.exitCode = await lead(job, { workerCount: Number(values.workers) });
else process.exitCode = await work(job, { name: `worker ${values.worker}`, slowMs: Number(values.slow) });
