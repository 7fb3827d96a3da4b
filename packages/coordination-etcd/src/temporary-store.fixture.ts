import { unwrap } from "@gossip/stdx";
import { startEtcd, type EtcdServer } from "@gossip/tools/engines";
import type { EtcdStore } from "./etcd-store.ts";
import { openEtcdStore, type EtcdStoreOptions } from "./open/open-etcd-store.ts";

let lastPrefix = 0;

/** A prefix that no other test of this process uses. */
export function newPrefix(): string {
  return `test-${process.pid}/${++lastPrefix}`;
}

/** A server for tests. `GOSSIP_ETCD_ENDPOINT` names another one than ours, to try a version that is not installed here. */
export type TestServer = Pick<EtcdServer, "endpoint" | "dispose">;

export async function startTestEtcd(): Promise<TestServer> {
  const endpoint = process.env["GOSSIP_ETCD_ENDPOINT"];
  return endpoint === undefined ? startEtcd() : { endpoint, dispose: async () => undefined };
}

export interface TemporaryStore {
  readonly store: EtcdStore;
  readonly prefix: string;
  dispose(): Promise<void>;
}

/** A store with nothing in it, below a prefix of its own. */
export async function makeStore(
  { endpoint }: Pick<EtcdServer, "endpoint">,
  options: Partial<EtcdStoreOptions> = {},
): Promise<TemporaryStore> {
  const prefix = newPrefix();
  const store = unwrap(await openEtcdStore({ endpoints: [endpoint], prefix, ...options }));
  return { store, prefix, dispose: () => store.close() };
}
