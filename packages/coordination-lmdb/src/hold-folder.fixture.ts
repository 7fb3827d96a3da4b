// A process that has a folder open, as one of an older version does, until it is killed.

import { writeSync } from "node:fs";
import { openDatabase } from "./engine/open-database.ts";
import { Rows } from "./engine/rows.ts";
import { NO_GATE } from "./temporary-store.fixture.ts";
import { RowKind, storeKey } from "./layout/keyspace.ts";

const { path } = JSON.parse(process.argv[2]!) as { path: string };
const hasFormat = new Rows(openDatabase(path, "Written"), NO_GATE).has(storeKey(RowKind.Format));
writeSync(1, JSON.stringify({ hasFormat }));
setInterval(() => {}, 1 << 30);
