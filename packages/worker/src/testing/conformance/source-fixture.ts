import type { Source } from "../../source/source.ts";

/** A source of which everything is known. */
export interface SourceFixture {
  readonly source: Source;
  /** The keys of all its items, in order. At least eight, or a cut leaves nothing to look at. */
  readonly keys: readonly Uint8Array[];
  /** How many handles the source holds open now: files, folders, connections in use. Where it is left out, leaks are not found. */
  readonly openHandleCount?: () => Promise<number> | number;
  /** Called when the case is over, however it ended. */
  readonly dispose?: () => Promise<void> | void;
}
