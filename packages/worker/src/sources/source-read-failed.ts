import type { SourceError, SourceErrorKind } from "./source-error.ts";

/** Thrown by a reading that cannot continue. The runtime waits and reads again, and finally parks the shard. */
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
