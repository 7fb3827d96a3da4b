/**
 * Why results could not be kept.
 *
 * - `DiskFull`    — there is no room. What counted before still counts; nothing since does.
 * - `Unwritable`  — the folder or the file cannot be written.
 * - `PartMissing` — results that count are not here: every worker of a run must see the same folder.
 * - `PartDamaged` — a file with results that count has other bytes than were written.
 * - `ResultsMissing`, `ResultsDamaged` — the assembled file of a finished run is gone, or is not what was written.
 * - `TokenInvalid`— the bytes in the cursor are none of this sink's.
 * - `NotJson`     — a result cannot be written as JSON.
 */
export type SinkFailedKind =
  | "DiskFull"
  | "Unwritable"
  | "PartMissing"
  | "PartDamaged"
  | "ResultsMissing"
  | "ResultsDamaged"
  | "TokenInvalid"
  | "NotJson";

/** Thrown by a sink that cannot keep results. Nothing counts that is not there. */
export class SinkFailed extends Error {
  override readonly name = "SinkFailed";
  readonly kind: SinkFailedKind;

  constructor(kind: SinkFailedKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
