// The thread of `keepLeases`. It has its own store and coordinator, and shares only the lease table with the main
// thread.

import { Coordinator, systemClock, type CoordinatorApi } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { parentPort, workerData } from "node:worker_threads";
import { BlockWatch } from "./block-watch.ts";
import type { KeeperStore, OpenKeeperStore } from "./keep-leases.ts";
import type { KeeperOrder, KeeperReport, KeeperStart } from "./keeper-message.ts";
import { LeaseTable } from "./lease-table.ts";
import { RunningItem } from "./running-item.ts";
import { Renewer } from "./renewer.ts";
import { sharedNowMs } from "./shared-now.ts";

/** How often per lease duration the thread checks a lease. */
const TICKS_PER_LEASE = 10;
/** The longest time between checks, for long leases. */
const MAX_TICK_MS = 10_000;
/** How often the thread checks whether the main loop is blocked. */
const WATCH_MS = 500;

async function open({ module, options }: KeeperStart): Promise<KeeperStore> {
  // oxlint-disable-next-line import/no-dynamic-require -- the caller names the module
  const exports = (await import(module)) as { readonly openStore?: OpenKeeperStore };
  assert(typeof exports.openStore === "function", "the module of keepLeases must export a function openStore");
  const opened = await exports.openStore(options);
  assert(typeof opened === "object" && opened !== null, "openStore must return an object");
  const canRenew =
    "store" in opened ? typeof opened.store?.commit === "function" : typeof opened.coordinator?.renew === "function";
  assert(canRenew, "openStore must return an object with a store or a coordinator");
  return opened;
}

function coordinatorOf(opened: KeeperStore): Pick<CoordinatorApi, "renew"> {
  if ("coordinator" in opened) return opened.coordinator;
  const { store, clock = systemClock(Date.now) } = opened;
  return new Coordinator({ store, clock });
}

async function keep(start: KeeperStart): Promise<void> {
  assert(parentPort !== null, "leases are renewed in a worker thread");
  const port = parentPort;
  const opened = await open(start);
  const coordinator = coordinatorOf(opened);
  const { leaseMs, maxBlockedMs } = start;
  const table = new LeaseTable(start.table);
  const renewer = new Renewer({
    table,
    leaseMs,
    maxBlockedMs,
    nowMs: sharedNowMs,
    renew: (lease) => coordinator.renew({ tenant: lease.tenant, lease }),
  });
  const watch = new BlockWatch({
    table,
    running: new RunningItem(start.running),
    nowMs: sharedNowMs,
    onBlocked: (blocked) => opened.onBlocked?.(blocked),
    onUnblocked: () => opened.onUnblocked?.(),
  });
  const watching = setInterval(() => watch.tick(), WATCH_MS);
  const ticking = setInterval(() => renewer.tick(), Math.min(MAX_TICK_MS, Math.max(1, leaseMs / TICKS_PER_LEASE)));

  port.on("message", (order: KeeperOrder) => {
    switch (order.kind) {
      case "Hold":
        return renewer.hold(order.slot, order.lease);
      case "Drop":
        return renewer.drop(order.slot);
      case "Close":
        clearInterval(ticking);
        clearInterval(watching);
        port.close();
        // With the port closed, only the store keeps the thread alive.
        return void opened.close?.();
    }
  });
  port.postMessage({ kind: "Open" } satisfies KeeperReport);
}

await keep(workerData as KeeperStart);
