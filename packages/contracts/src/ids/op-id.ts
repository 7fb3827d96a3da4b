import type { Brand } from "@gossip/stdx";
import { opIdSource } from "./op-id-source.ts";
import { u64Companion } from "./u64-companion.ts";

/**
 * Identifies one attempt to change something, over all its retries.
 *
 * Two different changes of one shard must never share an id: the second would be refused as a conflict. Take it from
 * `random`, or from a counter that all callers share.
 */
export type OpId = Brand<bigint, "OpId">;

export const OpId = {
  .../* @__PURE__ */ u64Companion<OpId>("op id"),

  // Many are drawn at a time: one system call took longer than the rest of a checkpoint. A worker thread or a child
  // process draws its own. Only a copy of a whole running process would return the same ids, and such a copy has the
  // same worker id and leases, which no id could protect.
  /** A fresh id from the platform's secure random source, never 0. */
  random: /* @__PURE__ */ opIdSource((out) => void globalThis.crypto.getRandomValues(out)) as () => OpId,
} as const;
