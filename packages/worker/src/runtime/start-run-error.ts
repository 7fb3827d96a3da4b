import { messageOf, type CreateRunError, type GetRunError } from "@gossip/coordination-errors";
import { assert } from "@gossip/stdx";
import type { SourceError } from "../sources/source-error.ts";

/** Why a run was neither created nor joined. */
export type StartRunError =
  | SourceError
  | GetRunError
  | CreateRunError
  /** The run exists, but was started with other settings. */
  | { readonly kind: "SettingsMismatch" }
  /** The signal fired before the run was created. */
  | { readonly kind: "Aborted" };

/** Describes the error in a sentence for users. It includes sizes, never bytes of a key or of the settings. */
export function startRunErrorMessage(error: StartRunError): string {
  assert(typeof error === "object" && error !== null, "error must be one of startRun");
  if (error.kind === "SourceMissing" || error.kind === "SourceUnreadable" || error.kind === "SourceInvalid")
    return error.reason;
  if (error.kind === "SettingsMismatch")
    return "the run exists with other settings; repeat those, or take another run id";
  if (error.kind === "Aborted") return "the start was aborted before the run was created";
  return messageOf(error);
}
