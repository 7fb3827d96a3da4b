// A thread with a store of its own on a folder. It fills runs and closes the store on request.

import { parentPort, workerData } from "node:worker_threads";
import { unwrap } from "@gossip/stdx";
import { fillStore } from "./fill-store.fixture.ts";
import { openLmdbStore } from "./open/open-lmdb-store.ts";

export type ThreadOrder =
  | { readonly kind: "Fill"; readonly from: number; readonly runs: number }
  | { readonly kind: "Close" };

const store = unwrap(await openLmdbStore({ path: workerData as string, durability: "Written" }));
parentPort!.on("message", (order: ThreadOrder) => void obey(order));
parentPort!.postMessage("Open");

async function obey(order: ThreadOrder): Promise<void> {
  if (order.kind === "Fill") {
    const { made } = await fillStore(store, order);
    parentPort!.postMessage(made);
    return;
  }
  await store.close();
  parentPort!.postMessage("Closed");
  parentPort!.close();
}
