// A process that opens a folder, adds runs until one is refused or there are enough, and prints the result.

import { writeSync } from "node:fs";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { fillStore } from "./fill-store.fixture.ts";
import { openLmdbStore } from "./open/open-lmdb-store.ts";

const { path, runs } = JSON.parse(process.argv[2]!) as { path: string; runs: number };
const opened = await openLmdbStore({ path, durability: "Flushed" });
if (!opened.ok) {
  writeSync(1, JSON.stringify({ opened: opened.error.kind }));
} else {
  const { made, refusal } = await fillStore(opened.value, { runs, from: 1 });
  const { findings, runCount } = unwrap(await fsck(opened.value.inspect()));
  const failure = refusal?.kind === "Failed" ? { code: refusal.error.code, message: refusal.error.message } : undefined;
  writeSync(1, JSON.stringify({ opened: "ok", made, refusal: refusal?.kind, failure, findings, runCount }));
  await opened.value.close();
}
