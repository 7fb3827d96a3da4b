import type { Source } from "../../sources/source.ts";

/** A source whose contents are known. */
export interface SourceFixture {
  readonly source: Source;
  /** The keys of all its items, in order. At least eight, so that a cut leaves something on both sides. */
  readonly keys: readonly Uint8Array[];
  /**
   * How many handles the source holds open now: files, folders, connections in use. Without it, leaks are not detected.
   */
  readonly openHandleCount?: () => Promise<number> | number;
  /** Called when the case is over, whether it passed or failed. */
  readonly dispose?: () => Promise<void> | void;
}
