// A PostgreSQL server that is restarted used to end every process that was using it.
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { unwrap } from "@gossip/stdx";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, test } from "vitest";
import { OUTAGES, surviveOutage } from "./outage.fixture.ts";

let server: PostgresServer;
let store: PostgresStore;
beforeAll(async () => {
  server = await startPostgres();
  store = unwrap(await openPostgresStore({ url: server.url }));
});
afterAll(async () => {
  await store?.close();
  await server?.dispose();
});

describe("a PostgreSQL server that is stopped and started again", () => {
  test.each(OUTAGES.map((outage, index) => ({ ...outage, index })))(
    "after $name loses and doubles nothing",
    { timeout: 900_000 },
    async ({ index, ...outage }) => {
      const [begin, end] = [() => server.kill(), () => server.restart()];
      await surviveOutage({ store, run: BigInt(index + 1), outage, begin, end });
    },
  );
});
