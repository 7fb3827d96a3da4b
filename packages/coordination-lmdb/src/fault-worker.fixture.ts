// A process of the fault run, on a folder.

import { runFaultWorker, type FaultWorkerConfig } from "@gossip/tools/fault-run";
import { unwrap } from "@gossip/stdx";
import { openLmdbStore } from "./open/open-lmdb-store.ts";

const { path, worker } = JSON.parse(process.argv[2]!) as { readonly path: string; readonly worker: FaultWorkerConfig };
const store = unwrap(await openLmdbStore({ path, durability: "Flushed" }));
await runFaultWorker(store, worker);
await store.close();
