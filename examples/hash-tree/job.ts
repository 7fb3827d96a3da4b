// What every process of the job opens for itself. They share a folder and nothing else.
import { relative } from "node:path";
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock, type RunRequest } from "@gossip/coordination";
import { lmdbOpenErrorMessage, openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { fileTreeSource, type FileItem, type Source } from "@gossip/worker";

export interface Job {
  /** The tree. */
  readonly root: string;
  /** Where the results will be. Until then there are two folders beside it, `.store` and `.parts`. */
  readonly out: string;
}

export interface OpenJob {
  readonly store: LmdbStore;
  readonly coordinator: Coordinator;
  readonly run: RunRequest;
  readonly source: Source<FileItem>;
}

/** How long a dead worker keeps its shard from the others. */
export const LEASE_MS = 5_000n;

export async function openJob({ root, out }: Job): Promise<OpenJob> {
  const opened = await openLmdbStore({ path: storeFolder(out) });
  if (!opened.ok)
    throw new Error(`the store in ${storeFolder(out)} cannot be opened: ${lmdbOpenErrorMessage(opened.error)}`);
  const store = opened.value;
  const coordinator = new Coordinator({
    store,
    clock: systemClock(Date.now),
  });
  // A store of its own for each output, so one id will do.
  const run = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
  // The output may lie in the tree. Every worker leaves out the same, or some files would belong to no worker.
  const ours = relative(root, out);
  const source = fileTreeSource({
    root,
    exclude: ({ path }) => path === ours || path?.startsWith(`${ours}.`) === true,
  });
  return { store, coordinator, run, source };
}

export function storeFolder(out: string): string {
  return `${out}.store`;
}
