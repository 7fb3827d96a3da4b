import type { SourceError, SourceErrorKind } from "../source/source-error.ts";

/** Thrown out of a reading that cannot go on. The runtime waits and reads again, and parks the shard in the end. */
export class SourceReadFailed extends Error {
  override readonly name = "SourceReadFailed";
  readonly error: SourceError;

  constructor(error: SourceError, options?: ErrorOptions) {
    super(error.reason, options);
    this.error = error;
  }

  get kind(): SourceErrorKind {
    return this.error.kind;
  }
}
