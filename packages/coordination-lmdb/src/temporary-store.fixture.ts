import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import type { LmdbStore } from "./lmdb-store.ts";
import type { Gate } from "./engine/gate/open-gate.ts";
import { openDatabase } from "./engine/open-database.ts";
import { openLmdbStore, type LmdbStoreOptions } from "./open/open-lmdb-store.ts";
import { Rows } from "./engine/rows.ts";

/** A folder that is removed when it is disposed of. */
export async function makeFolder(): Promise<{ readonly path: string; readonly dispose: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "gossip-lmdb-"));
  return { path, dispose: () => rm(path, { recursive: true, force: true }) };
}

export interface TemporaryStore {
  readonly store: LmdbStore;
  readonly path: string;
  readonly dispose: () => Promise<void>;
}

/** An empty store. It does not wait for the disk, unless a test is about power loss. */
export async function makeStore(options: Partial<LmdbStoreOptions> = {}): Promise<TemporaryStore> {
  const folder = await makeFolder();
  const store = unwrap(await openLmdbStore({ path: folder.path, durability: "Written", ...options }));
  const dispose = async () => {
    await store.close();
    await folder.dispose();
  };
  return { store, path: folder.path, dispose };
}

/** For a store that no other process opens. */
export const NO_GATE: Gate = { pass: (commit) => commit(), isPassed: true };

export interface TemporaryRows {
  readonly rows: Rows;
  readonly dispose: () => Promise<void>;
}

/** Rows of an empty folder, without a store. */
export async function makeRows(): Promise<TemporaryRows> {
  const folder = await makeFolder();
  const db = openDatabase(folder.path, "Written");
  const dispose = async () => {
    await db.close();
    await folder.dispose();
  };
  return { rows: new Rows(db, NO_GATE), dispose };
}
