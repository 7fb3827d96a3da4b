// etcd has no call for its time: the clock is compared with the date of its responses, which is in whole seconds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { expectClockChecks } from "./clock-skew.fixture.ts";

const MISSING = etcdSkipped();

describe.skipIf(MISSING !== undefined)("etcd", () => {
  let server: EtcdServer;
  const folder = mkdtempSync(join(tmpdir(), "gossip-clock-"));
  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(async () => {
    await server?.dispose();
    rmSync(folder, { recursive: true, force: true });
    await removeGossipScript();
  });

  test("a clock that is wrong is warned about, refused, and explained by doctor", { timeout: 120_000 }, async () => {
    await expectClockChecks(folder, server.endpoint.replace("http:", "etcd:"));
  });
});
