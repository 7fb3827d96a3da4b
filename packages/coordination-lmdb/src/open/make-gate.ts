import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "@gossip/stdx";
import { codeOf, isCorruption } from "../engine/engine-codes.ts";
import { GATE_FOLDER, GATE_TABLES, OpenGate } from "../engine/gate/open-gate.ts";
import { checkEmptyFile } from "./check-folder.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";

/** How often, and how long, to look again at a file that seems damaged: another process may be making it. */
const LOOKS = 20;
const LOOK_AGAIN_MS = 10;

/** What the system reports if something else is in the place of a folder or a file. */
const IN_THE_WAY: readonly unknown[] = ["EEXIST", "ENOTDIR", "ENOENT", "EISDIR"];

const GATE_DAMAGED = /* @__PURE__ */ err({ kind: "GateDamaged" } as const);

/** Makes the gate of a store, or opens it. Throws what the system throws. */
export async function makeGate(storeFolder: string): Promise<Result<OpenGate, LmdbOpenError>> {
  for (const table of Object.values(GATE_TABLES)) {
    const prepared = await prepareTable(join(storeFolder, GATE_FOLDER, table));
    if (!prepared.ok) return prepared;
  }
  try {
    return ok(new OpenGate(storeFolder));
  } catch (thrown) {
    if (isCorruption(thrown) || codeOf(thrown) === "MDB_VERSION_MISMATCH") return GATE_DAMAGED;
    throw thrown;
  }
}

async function prepareTable(folder: string): Promise<Result<void, LmdbOpenError>> {
  try {
    await mkdir(folder, { recursive: true });
    for (let look = 0; look < LOOKS; look++) {
      const checked = await checkEmptyFile(folder);
      if (checked !== undefined) return checked;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  } catch (thrown) {
    if (!IN_THE_WAY.includes(codeOf(thrown))) throw thrown;
  }
  return GATE_DAMAGED;
}
