// Most of the time of a backfill is spent waiting for the database. A statement for many rows waits once.
import { RunId } from "@gossip/contracts";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { runWorkers, startRun } from "@gossip/worker";
import { Pool } from "pg";
import { BATCH_SIZE, openJob, type OpenJob } from "./job.ts";
import { ADD_COLUMNS, writeEmailKeys } from "./write-email-key.ts";

const ROWS = process.argv.includes("--smoke") ? 200 : 10_000;
const MAKE_CUSTOMERS = `
  CREATE TABLE customers (shop integer, id bigint, email text NOT NULL, PRIMARY KEY (shop, id));
  INSERT INTO customers SELECT n % 2, n, 'Customer' || n || '@Example.org' FROM generate_series(1, ${ROWS}) AS n`;

let server: PostgresServer;
let job: OpenJob;
let runs = 0n;

/** A run of its own for every measurement. */
async function backfill(work: (run: OpenJob) => Promise<{ readonly items: number }>): Promise<void> {
  const run = { ...job.run, run: RunId.fromRaw(++runs) };
  const { coordinator, source } = job;
  unwrap(await startRun({ coordinator, run, source, config: { leaseDuration: 30_000n }, shardCount: 4 }));
  const { items } = await work({ ...job, run });
  assert(items === ROWS, "every row is written");
}

compare(`an update for each of ${ROWS} rows`, {
  async before() {
    server = await startPostgres();
    const pool = new Pool({ connectionString: server.url });
    await pool.query(MAKE_CUSTOMERS);
    await pool.query(ADD_COLUMNS);
    await pool.end();
    job = await openJob(server.url);
  },
  async after() {
    await job.pool.end();
    await server.dispose();
  },
  forms: {
    "in batches": () =>
      backfill(({ pool, ...options }) =>
        runWorkers({
          ...options,
          processBatch: async (items, { writeFence }) => {
            await writeEmailKeys(
              pool,
              items.map(({ row }) => row),
              writeFence,
            );
            return undefined;
          },
          batchSize: BATCH_SIZE,
        }),
      ),
    "row by row": () =>
      backfill(({ pool, ...options }) =>
        runWorkers({ ...options, process: ({ row }, { writeFence }) => writeEmailKeys(pool, [row], writeFence) }),
      ),
    "row by row, 8 at a time": () =>
      backfill(({ pool, ...options }) =>
        runWorkers({
          ...options,
          process: ({ row }, { writeFence }) => writeEmailKeys(pool, [row], writeFence),
          itemConcurrency: 8,
        }),
      ),
  },
  bounds: [{ form: "in batches", ratioAtMost: 0.2, toBestOf: ["row by row"] }],
  options: { rounds: 5, sampleMs: 1, warmMs: 1, callsPerRun: ROWS, measureHeap: false },
});
