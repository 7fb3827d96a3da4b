// A store that deviates from the one in memory shows it in a result or in a stored byte.
import { expectSameAsMemory, LANES } from "@gossip/tools/store-proof";
import { Pool } from "pg";
import { afterAll, beforeAll, test } from "vitest";
import { makeEmptiedStore, startFastPostgres, type TestServer } from "./temporary-database.fixture.ts";

let server: TestServer;
let pool: Pool;

beforeAll(async () => {
  server = await startFastPostgres();
  pool = new Pool({ connectionString: server.url, max: 8 });
});

afterAll(async () => {
  await pool?.end();
  await server?.dispose();
});

test.each(LANES)("$laneCount at a time: every answer and every byte is the same as in memory", async (lanes) => {
  const temporary = await makeEmptiedStore(pool);
  try {
    await expectSameAsMemory(temporary.store, lanes);
  } finally {
    await temporary.dispose();
  }
});
