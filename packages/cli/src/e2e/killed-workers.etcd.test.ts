// The same on etcd, where every write is a transaction over HTTP, and a killed worker may have had several under way.
import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { killAndRestart } from "./killed-workers.fixture.ts";
import { KILL_SIZE, tellReport } from "./long-run.fixture.ts";

const MISSING = etcdSkipped();

describe.skipIf(MISSING !== undefined)("etcd", () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(async () => {
    await server?.dispose();
    await removeGossipScript();
  });

  test("killed workers lose no file and double no result, on etcd", { timeout: 1_800_000 }, async () => {
    const report = await killAndRestart({ store: server.endpoint.replace("http:", "etcd:"), ...KILL_SIZE });
    tellReport("etcd", report);
  });
});
