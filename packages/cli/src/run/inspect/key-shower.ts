import type { RunRequest } from "@gossip/coordination";
import { decodeTuple } from "@gossip/frontier";
import { keyCodecOf, showKey } from "@gossip/insight";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { readKeyKinds } from "./key-kinds.ts";

/** Shows a key to people in the form of its source. Returns "" for no key. */
export type ShowKey = (key: Uint8Array | undefined) => string;

/** How the keys of a run are shown, given the identity of its source. */
export async function openKeyShower(
  opened: Pick<OpenedStore, "coordinator">,
  request: RunRequest,
  source: string | undefined,
): Promise<ShowKey> {
  const codec = keyCodecOf(source);
  const describe = codec === "tuple" ? await readKeyKinds(opened, request) : undefined;
  if (describe === undefined) return (key) => showKey(key, codec);
  // A split may end a range between two rows, where no tuple is.
  return (key) => (key !== undefined && key.length > 0 && decodeTuple(key).ok ? describe(key) : showKey(key, codec));
}
