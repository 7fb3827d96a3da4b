// A process that removes a run, says so, and would then sweep it away.

import { writeSync } from "node:fs";
import { RunId, type TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { openLmdbStore } from "./open-lmdb-store.ts";

const { path, tenant, run } = JSON.parse(process.argv[2]!) as { path: string; tenant: TenantId; run: string };
const id = RunId.fromRaw(BigInt(run));
const store = unwrap(await openLmdbStore({ path, durability: "Flushed" }));
const read = unwrap(store.readRun(tenant, id));
if (read.kind !== "Found") throw new Error("the run must be there");
const [answer] = await store.commit([{ kind: "RemoveRun", tenant, run: id, guard: read.version }]);
if (answer?.kind === "Committed") writeSync(1, "removed\n");
await store.swept();
await store.close();
