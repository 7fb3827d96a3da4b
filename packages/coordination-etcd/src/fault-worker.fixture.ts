// A process of the fault run, on an etcd that may be down when it starts, and at any time after.

import { setTimeout as sleep } from "node:timers/promises";
import { runFaultWorker, type FaultWorkerConfig } from "@gossip/tools/fault-run";
import type { EtcdStore } from "./etcd-store.ts";
import { openEtcdStore } from "./open-etcd-store.ts";

const { endpoint, prefix, worker } = JSON.parse(process.argv[2]!) as { readonly endpoint: string; readonly prefix: string; readonly worker: FaultWorkerConfig };

async function open(): Promise<EtcdStore> {
  for (;;) {
    const opened = await openEtcdStore({ endpoints: [endpoint], prefix, requestTimeoutMs: 3000 });
    if (opened.ok) return opened.value;
    await sleep(50);
  }
}

const store = await open();
process.stdout.write("open\n");
await runFaultWorker(store, worker);
await store.close();
