// The promise of the whole project: kill any worker at any moment, start it again, and every item is done, and is in the
// results once. A line lost or doubled here is a file that a user believes was checked, and was not.
import { afterAll, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { killAndRestart } from "./killed-workers.fixture.ts";
import { KILL_SIZE, tellReport } from "./long-run.fixture.ts";

afterAll(removeGossipScript);

test("killed workers lose no file and double no result, on the embedded store", { timeout: 1_800_000 }, async () => {
  const report = await killAndRestart({ store: "FOLDER/.gossip", ...KILL_SIZE });
  tellReport("lmdb", report);
});
