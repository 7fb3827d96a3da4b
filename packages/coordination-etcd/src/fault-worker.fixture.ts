// A process of the fault run, on an etcd that may be down when it starts, and at any time after.

import { setTimeout as sleep } from "node:timers/promises";
import { runFaultWorker, type FaultWorkerConfig } from "@gossip/tools/fault-run";
import type { EtcdStore } from "./etcd-store.ts";
import { openEtcdStore } from "./open/open-etcd-store.ts";

const { endpoint, worker } = JSON.parse(process.argv[2]!) as {
  readonly endpoint: string;
  readonly worker: FaultWorkerConfig;
};

// A test run that is itself killed must not leave workers behind that wait for its server.
const parent = process.ppid;

async function open(): Promise<EtcdStore> {
  while (process.ppid === parent) {
    const opened = await openEtcdStore({ endpoints: [endpoint], requestTimeoutMs: 3000 });
    if (opened.ok) return opened.value;
    await sleep(50);
  }
  process.exit();
}

const store = await open();
await runFaultWorker(store, worker);
await store.close();
