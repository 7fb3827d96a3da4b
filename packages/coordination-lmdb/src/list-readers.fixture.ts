// A process that opens a folder with the driver alone and prints the engine's table of readers.

import { writeSync } from "node:fs";
import { openDatabase } from "./engine/open-database.ts";

const { path } = JSON.parse(process.argv[2]!) as { readonly path: string };
const db = openDatabase(path, "Written");
writeSync(1, db.readerList());
await db.close();
