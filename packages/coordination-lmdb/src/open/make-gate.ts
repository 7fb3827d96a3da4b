import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { err, ok, type Result } from "@gossip/stdx";
import { codeOf, isCorruption } from "../engine/engine-codes.ts";
import { GATE_FOLDER, GATE_TABLES, OpenGate } from "../engine/gate/open-gate.ts";
import { ReaderTable } from "../engine/gate/reader-table.ts";
import { checkEmptyFile } from "./check-folder.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";

/** How often, and how long, to look again at a file that seems damaged: another process may be making it. */
const LOOKS = 20;
const LOOK_AGAIN_MS = 10;

/** What the system and the engine report if something else is in the place of a folder or a file. */
const IN_THE_WAY: readonly unknown[] = ["EEXIST", "ENOTDIR", "ENOENT", "EISDIR", "MDB_VERSION_MISMATCH"];

/** Makes the gate of a store, or opens it. Throws what the system throws. */
export async function makeGate(storeFolder: string): Promise<Result<OpenGate, LmdbOpenError>> {
  try {
    for (const table of Object.values(GATE_TABLES)) {
      const prepared = await prepareTable(join(storeFolder, GATE_FOLDER, table));
      if (!prepared.ok) return prepared;
    }
    return ok(new OpenGate(storeFolder));
  } catch (thrown) {
    if (IN_THE_WAY.includes(codeOf(thrown)) || isCorruption(thrown)) return err({ kind: "GateDamaged" });
    throw thrown;
  }
}

async function prepareTable(folder: string): Promise<Result<void, LmdbOpenError>> {
  await mkdir(folder, { recursive: true });
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) await pause(LOOK_AGAIN_MS);
    const checked = await checkEmptyFile(folder);
    if (checked === undefined) continue;
    if (!checked.ok) return checked;
    if (checked.value === "Empty") await ReaderTable.create(folder);
    return ok();
  }
  return err({ kind: "GateDamaged" });
}
