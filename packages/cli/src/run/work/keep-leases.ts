import type { KeeperStore } from "@gossip/worker";
import { openStore } from "../../store-url/open-store.ts";
import type { StoreAddress } from "../../store-url/store-address.ts";

/** What the thread needs to open the same store as the process. */
export interface KeepLeasesOptions {
  readonly address: StoreAddress;
  readonly tso: readonly string[] | undefined;
}

/** Called in a thread that renews leases while this process is busy. */
export async function openKeeperStore({ address, tso }: KeepLeasesOptions): Promise<KeeperStore> {
  const opened = await openStore({ address, tso, mustExist: true });
  if (!opened.ok) throw new Error(opened.error.message);
  const { store, clock, close } = opened.value;
  return { store, clock, close };
}

export { openKeeperStore as openStore };
