import type { FsckSource } from "../../packages/coordination-fsck/src/index.ts";
import type { CoordinationStore } from "../../packages/coordination/src/index.ts";

/** A store that can be checked as a whole. */
export type InspectedStore = CoordinationStore & { inspect(): FsckSource };
