import type { Brand } from "@gossip/stdx";
import { u64Companion, type U64Companion } from "./u64-companion.ts";

/** Identifies a run within its tenant. An unsigned 64-bit integer. */
export type RunId = Brand<bigint, "RunId">;

export const RunId: U64Companion<RunId> = /* @__PURE__ */ u64Companion<RunId>("run id");
