// The same on PostgreSQL, where a killed worker leaves a connection behind, and a commit whose answer is never received.
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { killAndRestart } from "./killed-workers.fixture.ts";
import { KILL_SIZE, tellReport } from "./long-run.fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server?.dispose();
  await removeGossipScript();
});

test("killed workers lose no file and double no result, on PostgreSQL", { timeout: 1_800_000 }, async () => {
  const report = await killAndRestart({ store: server.url, ...KILL_SIZE });
  tellReport("postgres", report);
});
