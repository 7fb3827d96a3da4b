import type { World } from "./world.ts";

/** One property that every store must have. */
export interface ConformanceCase {
  /** A sentence, preceded by its number in the specification. */
  readonly name: string;
  readonly run: (world: World) => Promise<void>;
}
