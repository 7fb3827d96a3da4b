import type { Brand } from "@gossip/stdx";
import { u64Companion, type U64Companion } from "./u64-companion.ts";

/** Identifies a worker. An unsigned 64-bit integer. */
export type WorkerId = Brand<bigint, "WorkerId">;

export const WorkerId: U64Companion<WorkerId> = /* @__PURE__ */ u64Companion<WorkerId>("worker id");
