// A rule that etcd keeps differently from memory shows as an answer or as a byte of what is stored, and nowhere else.
import { etcdSkipped } from "@gossip/tools/engines";
import { expectSameAsMemory, LANES } from "@gossip/tools/store-proof";
import { afterAll, beforeAll, test } from "vitest";
import { makeStore, startTestEtcd, type TestServer } from "./temporary-store.fixture.ts";

const skipped = etcdSkipped();
let server: TestServer;

beforeAll(async () => {
  if (skipped === undefined) server = await startTestEtcd();
});

afterAll(async () => {
  await server?.dispose();
});

test.skipIf(skipped !== undefined).each(LANES)(
  "$laneCount at a time: every answer and every byte is the same as in memory",
  async (lanes) => {
    const temporary = await makeStore(server);
    try {
      await expectSameAsMemory(temporary.store, lanes);
    } finally {
      await temporary.dispose();
    }
  },
);
