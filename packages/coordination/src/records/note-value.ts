import { toJsonSafe } from "@gossip/contracts";
import type { JsonReader } from "@gossip/contracts/internal";
import { InfraError } from "@gossip/coordination-errors";
import { err, type Result } from "@gossip/stdx";

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });

/** A document as a note's value: JSON with u64s as 16 hex digits and bytes as base64url. */
export function encodeNoteValue(document: object): Uint8Array {
  return encoder.encode(JSON.stringify(toJsonSafe(document)));
}

/** Reads a note's value. Whatever the bytes are, the result is the document or `Corruption`. */
export function decodeNoteValue<T>(value: Uint8Array, read: JsonReader<T>): Result<T, InfraError> {
  let json: unknown;
  try {
    json = JSON.parse(decoder.decode(value));
  } catch {
    return err(damagedNote());
  }
  const document = read(json, "");
  return document.ok ? document : err(damagedNote());
}

/** The text of a note is the tenant's data, so the error names neither the key nor the field. */
export function damagedNote(): InfraError {
  return InfraError.corruption({
    operation: "notes.read",
    message: "a note of the run does not have the form of its space",
  });
}
