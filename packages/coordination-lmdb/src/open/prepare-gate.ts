import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "@gossip/stdx";
import { GATE_FOLDER } from "../engine/open-gate.ts";
import { checkGateFiles } from "./check-folder.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";

/** How often, and how long, to look at a gate again that seems damaged. */
const LOOKS = 20;
const LOOK_AGAIN_MS = 10;

/** Makes the folder of a store's gate, and checks that the engine can open it. Throws what the system throws. */
export async function prepareGate(storeFolder: string): Promise<Result<void, LmdbOpenError>> {
  const folder = join(storeFolder, GATE_FOLDER);
  await mkdir(folder, { recursive: true });
  for (let look = 0; look < LOOKS; look++) {
    const checked = await checkGateFiles(folder);
    if (checked !== undefined) return checked.ok ? ok() : checked;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return err({ kind: "GateDamaged" });
}
