// A store that deviates from the one in memory would only show in production. So the published conformance kit runs against it
// unchanged, on a real server.

import { describeCoordinationStore } from "@gossip/coordination/testing";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeEmptiedStore, startFastPostgres, type TestServer } from "./temporary-database.fixture.ts";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 8 });
  pool.on("error", () => undefined);
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

describeCoordinationStore("PostgresStore", () => makeEmptiedStore(pool), {
  describe,
  expect,
  // Ten thousand shards are written to a disk, on a machine that may have other things to do.
  test: (name, run) => test(name, run),
});
