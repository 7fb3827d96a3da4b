// Only this finds a store that goes wrong when a refused write comes between two that are committed.
import { effort } from "@gossip/tools/effort";
import { etcdSkipped } from "@gossip/tools/engines";
import { expectSamePort } from "@gossip/tools/store-proof";
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

// Every step reads the whole store over the network: a few runs take as long as hundreds on another store.
const runs = effort({ usual: 8, exploring: 32 });

test.skipIf(skipped !== undefined)(
  "write sets of every kind, with guards of every age, are answered as in memory and leave the same behind",
  () => expectSamePort({ makeStore: () => makeStore(server), runs, maxLength: 40 }),
  300_000,
);
