// An outage of the store ends every lease. A message about each of them hides what the user has to know.
import { RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import type { WorkerEvent } from "@gossip/worker";
import { expect, test } from "vitest";
import type { ProgressView } from "../../progress/run-progress.ts";
import type { JobSource } from "../source/job-source.ts";
import { eventPrinter } from "./print-events.ts";

test("leases that end while the store does not respond are counted, and reported when it is back", async () => {
  const said: string[] = [];
  const clock = new ManualClock(1n);
  const print = eventPrinter({
    opened: { coordinator: new Coordinator({ store: new MemoryStore(), clock }), clock },
    request: { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) },
    worker: WorkerId.fromRaw(1n),
    jobSource: {} as JobSource,
    view: { say: (text: string) => void said.push(text) } as ProgressView,
  });
  const lost = (shard: bigint): WorkerEvent => ({
    kind: "LeaseLost",
    shard: ShardId.fromRaw(shard),
    items: 1,
    cause: "Unconfirmed",
    isTaken: false,
  });
  print({ kind: "StoreUnavailable" });
  print(lost(1n));
  print(lost(2n));
  print({ kind: "StoreBack", afterMs: 14_000 });
  expect(said).toEqual([
    "the store does not respond; the work waits for it",
    "the store responds again, after 14 s; 2 leases ended meanwhile, and items that were not stored are done again",
  ]);
  print({ kind: "StoreUnavailable" });
  print({ kind: "StoreBack", afterMs: 1000 });
  expect(said.at(-1)).toBe("the store responds again, after 1 s");
  print(lost(3n));
  await expect.poll(() => said.at(-1)).toMatch(/^the lease of shard 3 ended before it could be renewed/);
});
