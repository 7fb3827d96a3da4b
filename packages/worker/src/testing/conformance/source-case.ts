import type { SourceWorld } from "./source-world.ts";

/** One property that must hold for every source. */
export interface SourceCase {
  readonly name: string;
  readonly run: (world: SourceWorld) => Promise<void>;
}
