import { homedir } from "node:os";
import { join } from "node:path";
import type { StoreAddress } from "../../store-url/store-address.ts";

/**
 * Where lists from stdin are kept: with the store if it is a folder, otherwise where this user's programs keep their
 * state.
 */
export function listFolder(address: StoreAddress, env: NodeJS.ProcessEnv): string {
  if (address.kind === "lmdb") return join(address.path, "lists");
  const state = env["XDG_STATE_HOME"];
  return join(state === undefined || state === "" ? join(homedir(), ".local", "state") : state, "gossip", "lists");
}
