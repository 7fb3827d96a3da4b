/**
 * Why results could not be stored.
 *
 * - `DiskFull`: no space left. Results that counted before still count; later ones do not.
 * - `Unwritable`: the folder or file cannot be written.
 * - `PartMissing`: results that count are missing here. Every worker of a run must see the same folder.
 * - `PartDamaged`: a file with results that count does not have the bytes that were written.
 * - `ResultsMissing`, `ResultsDamaged`: the assembled file of a finished run is gone, or is not what was written.
 * - `TokenInvalid`: the bytes in the cursor are not a token of this sink.
 * - `NotJson`: a result cannot be written as JSON. Only its item fails.
 * - `ResultTooLarge`: a result is too large. Only its item fails.
 */
export type SinkFailedKind =
  | "DiskFull"
  | "Unwritable"
  | "PartMissing"
  | "PartDamaged"
  | "ResultsMissing"
  | "ResultsDamaged"
  | "TokenInvalid"
  | "NotJson"
  | "ResultTooLarge";

/** Thrown by a sink that cannot store results. */
export class SinkFailed extends Error {
  override readonly name = "SinkFailed";
  readonly kind: SinkFailedKind;

  constructor(kind: SinkFailedKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** Whether the fault is in one result, and the sink can store others. */
  get isResultFault(): boolean {
    return this.kind === "NotJson" || this.kind === "ResultTooLarge";
  }
}
