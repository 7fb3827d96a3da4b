// From 1,000 to 10,000,000 shards a call must not cost more than twice as much. The disk is left out of it, since waiting
// for it would hide the rest. The largest folder takes some gigabytes and minutes to fill.
import { mkdtemp, open as openFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { growthFigure } from "@gossip/tools/growth";

let folder: string | undefined;
const open: LmdbStore[] = [];

async function openSize(size: number): Promise<LmdbStore> {
  folder ??= await mkdtemp(join(tmpdir(), "gossip-bench-"));
  const store = unwrap(await openLmdbStore({ path: join(folder, String(size)), durability: "Written" }));
  open.push(store);
  return store;
}

/** The operating system must not write what was filled while other sizes are measured. */
async function syncSize(size: number): Promise<void> {
  const file = await openFile(join(folder!, String(size), "data.mdb"), "r+");
  await file.sync();
  await file.close();
}

async function closeAll(): Promise<void> {
  for (const store of open.splice(0)) await store.close();
}

growthFigure({
  store: "LMDB",
  sizes: [1000, 100_000, 1_000_000, 10_000_000],
  perWrite: 10_000,
  coordinatorOf: (store) => new Coordinator({ store, clock: systemClock(Date.now) }),
  open: openSize,
  // Opened anew, so that what filling has left with the operating system is on disk and out of the way.
  async settle(filled) {
    await closeAll();
    const opened = new Map<number, LmdbStore>();
    for (const size of filled.keys()) await syncSize(size);
    for (const size of filled.keys()) opened.set(size, await openSize(size));
    return opened;
  },
  async close() {
    await closeAll();
    if (folder !== undefined) await rm(folder, { recursive: true });
  },
});
