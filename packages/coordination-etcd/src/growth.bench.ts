// From 1,000 to 1,000,000 shards a call must not cost more than twice as much. A million take three million keys, and
// minutes to be put there.
import { Coordinator, systemClock } from "@gossip/coordination";
import { openEtcdStore, type EtcdStore } from "@gossip/coordination-etcd";
import { unwrap } from "@gossip/stdx";
import { etcdMissing, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { growthFigure } from "@gossip/tools/growth";

const SETTINGS = [
  "--auto-compaction-mode=revision",
  "--auto-compaction-retention=10000",
  `--quota-backend-bytes=${2 ** 33}`,
  // The disk is left out of it, since waiting for it would hide the rest.
  "--unsafe-no-fsync",
];
const SIZES = [1000, 100_000, 1_000_000];

let server: EtcdServer | undefined;
const stores: EtcdStore[] = [];

const missing = etcdMissing();
if (missing === undefined) {
  growthFigure({
    store: "etcd",
    sizes: SIZES,
    perWrite: Math.max(...SIZES),
    coordinatorOf: (store) => new Coordinator({ store, clock: systemClock(Date.now) }),
    async open(size) {
      server ??= await startEtcd(SETTINGS);
      const store = unwrap(await openEtcdStore({ endpoints: [server.endpoint], prefix: `of-${size}` }));
      stores.push(store);
      return store;
    },
    async close() {
      for (const store of stores) await store.close();
      await server?.dispose();
    },
  });
} else console.log(`Skipped: ${missing}`);
