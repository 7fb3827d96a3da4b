// A process that opens new folders, each several times at once, and prints how many stores it opened.

import { writeSync } from "node:fs";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { openLmdbStore } from "./open/open-lmdb-store.ts";

const { path, folders, opens } = JSON.parse(process.argv[2]!) as { path: string; folders: number; opens: number };
let opened = 0;
for (let folder = 0; folder < folders; folder++) {
  const options = { path: join(path, String(folder)) };
  const stores = await Promise.all(Array.from({ length: opens }, () => openLmdbStore(options)));
  opened += stores.length;
  for (const store of stores) await unwrap(store).close();
}
writeSync(1, JSON.stringify({ opened }));
