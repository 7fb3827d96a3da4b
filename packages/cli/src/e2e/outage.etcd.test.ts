// An etcd server that is restarted used to end every process that was using it.
import { openEtcdStore, type EtcdStore } from "@gossip/coordination-etcd";
import { unwrap } from "@gossip/stdx";
import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, test } from "vitest";
import { OUTAGES, surviveOutage } from "./outage.fixture.ts";

const MISSING = etcdSkipped();

describe.skipIf(MISSING !== undefined)("an etcd server that is stopped and started again", () => {
  let server: EtcdServer;
  let store: EtcdStore;
  beforeAll(async () => {
    server = await startEtcd();
    store = unwrap(await openEtcdStore({ endpoints: [server.endpoint] }));
  });
  afterAll(async () => {
    await store?.close();
    await server?.dispose();
  });

  test.each(OUTAGES.map((outage, index) => ({ ...outage, index })))(
    "after $name loses and doubles nothing",
    { timeout: 900_000 },
    async ({ index, ...outage }) => {
      const [begin, end] = [() => server.kill(), () => server.restart()];
      await surviveOutage({ store, run: BigInt(index + 1), outage, begin, end });
    },
  );
});
