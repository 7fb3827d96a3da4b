// A store that keeps a rule a little differently from the one in memory would go unnoticed until production. So the
// published conformance kit runs against it, on a real server.

import { describeCoordinationStore } from "@gossip/coordination/testing";
import { etcdSkipped } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeStore, startTestEtcd, type TestServer } from "./temporary-store.fixture.ts";

const skipped = etcdSkipped();
let server: TestServer;

beforeAll(async () => {
  if (skipped === undefined) server = await startTestEtcd();
});

afterAll(async () => {
  await server?.dispose();
});

describe.skipIf(skipped !== undefined)("on a real etcd", () => {
  describeCoordinationStore("EtcdStore", () => makeStore(server), {
    describe,
    expect,
    // Ten thousand shards are written to a disk, on a machine that may have other things to do.
    test: (name, run) => test(name, run),
  });
});
