import type { World } from "./world.ts";

/** One thing that must hold over every store. */
export interface ConformanceCase {
  /** A sentence, after the name that the specification has for it. */
  readonly name: string;
  readonly run: (world: World) => Promise<void>;
}
