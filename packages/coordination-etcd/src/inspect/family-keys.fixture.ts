import { WorkerId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "@gossip/coordination-fsck/testing";
import { ManualClock } from "@gossip/coordination/testing";
import { prefixEnd, type EtcdClient, type KeyValue } from "@gossip/etcd-client";
import { unwrap } from "@gossip/stdx";
import { baseValue, sumTallies } from "../layout/tallies.ts";
import { makeStore, type TestServer } from "../temporary-store.fixture.ts";

const TALLY = /\/t\/.*$/u;

/** What etcd takes in a transaction by default. */
const MAX_TXN_OPS = 128;

/** The keys and values of a store, relative to its prefix. */
export type RelativeKeys = readonly (readonly [key: string, value: Uint8Array])[];

/** Grows a family of shards through a store, one of them leased, and returns its keys. Copying them is much faster. */
export async function makeFamilyKeys(server: TestServer, client: EtcdClient): Promise<RelativeKeys> {
  const temporary = await makeStore(server);
  const { store, prefix } = temporary;
  await raiseFamily(store, { seed: 11, steps: 40 });
  const coordinator = new Coordinator({ store, clock: new ManualClock(1_000_000n) });
  unwrap(await coordinator.claim({ tenant: FAMILY_TENANT, run: FAMILY_RUN, worker: WorkerId.fromRaw(9n) }));
  await temporary.dispose();
  const keys = await keysBelow(client, `${prefix}/`);
  // A copy of a key has another version, so that what was counted with versions is copied as a number.
  const tallies = keys.filter(({ key }) => TALLY.test(key));
  const base = `${tallies[0]!.key.replace(TALLY, "")}/t/=`;
  const copied = [
    ...keys.filter((kv) => !tallies.includes(kv)),
    { key: base, value: Buffer.from(baseValue(sumTallies(tallies))) },
  ];
  return copied.map(({ key, value }) => [key.slice(prefix.length + 1), value]);
}

/** Writes the keys below another prefix. Heads and runs go into one transaction, as the store writes them. */
export async function putKeys(client: EtcdClient, prefix: string, keys: RelativeKeys): Promise<void> {
  const puts = keys
    .toSorted(([a], [b]) => Number(isOfRun(b)) - Number(isOfRun(a)))
    .map(([key, value]) => ({ put: `${prefix}${key}`, value }));
  for (let from = 0; from < puts.length; from += MAX_TXN_OPS)
    unwrap(await client.txn({ compare: [], success: puts.slice(from, from + MAX_TXN_OPS) }));
}

export async function keysBelow(client: EtcdClient, prefix: string): Promise<readonly KeyValue[]> {
  return unwrap(await client.range({ get: prefix, end: prefixEnd(prefix) })).kvs;
}

function isOfRun(key: string): boolean {
  return key.startsWith("head/") || key.startsWith("run/");
}
