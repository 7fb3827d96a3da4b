// A process of the fault run, on a database that may be down when it starts, and at any time after.

import { setTimeout as sleep } from "node:timers/promises";
import { runFaultWorker, type FaultWorkerConfig } from "@gossip/tools/fault-run";
import { openPostgresStore } from "./open/open-postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

const { url, worker } = JSON.parse(process.argv[2]!) as { readonly url: string; readonly worker: FaultWorkerConfig };

// A test run that is itself killed must not leave workers behind that wait for its server.
const parent = process.ppid;

async function open(): Promise<PostgresStore> {
  while (process.ppid === parent) {
    const opened = await openPostgresStore({
      url,
      maxConnections: 3,
      connectTimeoutMs: 2000,
      statementTimeoutMs: 5000,
    });
    if (opened.ok) return opened.value;
    await sleep(50);
  }
  process.exit();
}

const store = await open();
await runFaultWorker(store, worker);
await store.close();
