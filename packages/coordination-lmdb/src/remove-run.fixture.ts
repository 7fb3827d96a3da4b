// A process that removes a run and is killed when the sweep of its rows begins.

import { writeSync } from "node:fs";
import { RunId, type TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { openLmdbStore } from "./open/open-lmdb-store.ts";

const { path, tenant, run } = JSON.parse(process.argv[2]!) as { path: string; tenant: TenantId; run: string };
const id = RunId.fromRaw(BigInt(run));
const store = unwrap(await openLmdbStore({ path, durability: "Flushed" }));
const read = unwrap(store.readRun(tenant, id));
if (read.kind !== "Found") throw new Error("the run must be there");
const [answer] = await store.commit([{ kind: "RemoveRun", tenant, run: id, guard: read.version }]);
if (answer?.kind === "Committed") writeSync(1, "removed\n");
// By itself: a parent that waits for the output may come too late.
process.kill(process.pid, "SIGKILL");
