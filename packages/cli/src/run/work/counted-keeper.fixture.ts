// A keeper's store that counts its commits in memory shared with the test, so that a test can wait for renewals.
import type { KeeperStore } from "@gossip/worker";
import { openKeeperStore, type KeepLeasesOptions } from "./keep-leases.ts";

export interface CountedKeeperOptions extends KeepLeasesOptions {
  /** Holds one 32-bit integer: the commits so far. */
  readonly commits: SharedArrayBuffer;
}

export async function openStore({ commits, ...options }: CountedKeeperOptions): Promise<KeeperStore> {
  const opened = await openKeeperStore(options);
  const count = new Int32Array(commits);
  if (!("store" in opened)) throw new Error("this fixture counts the commits of a store");
  const { store } = opened;
  const commit = store.commit.bind(store);
  store.commit = async (...args) => {
    const answer = await commit(...args);
    Atomics.add(count, 0, 1);
    Atomics.notify(count, 0);
    return answer;
  };
  return opened;
}
