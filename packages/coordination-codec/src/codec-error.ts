import type { CursorInputError, ShardSpecInputError } from "@gossip/contracts";
import { InfraError, type FixedText, type InfraErrorOf } from "@gossip/coordination-errors";
import { matchError } from "@gossip/stdx";
import type { BlobKind } from "./blob-kind.ts";

/**
 * Why bytes cannot be decoded.
 *
 * Since version 2, `ChecksumMismatch` means that the bytes are not those that were written. Every kind below it means
 * that they are, and were already wrong then. Contains only names of fields and sizes, because the bytes of a record
 * contain keys of users.
 */
export type CodecError =
  /** A field needs more bytes than are left. */
  | { readonly kind: "Truncated"; readonly needed: number; readonly remaining: number }
  /** It does not begin as a blob does. */
  | { readonly kind: "InvalidVersionPrefix" }
  /** A later version of this package wrote it. *Addition.* */
  | { readonly kind: "NewerVersion"; readonly version: number; readonly newest: number }
  /** A kind that its version does not have. */
  | { readonly kind: "InvalidBlobKind"; readonly actual: number }
  | { readonly kind: "UnexpectedBlobKind"; readonly expected: BlobKind; readonly actual: BlobKind }
  /** The bytes changed after they were written. `size` is how many there are. *Addition.* */
  | { readonly kind: "ChecksumMismatch"; readonly size: number }
  | { readonly kind: "InvalidBool"; readonly field: string; readonly actual: number }
  | { readonly kind: "InvalidEnum"; readonly field: string; readonly actual: number }
  | { readonly kind: "InvalidSpec"; readonly reason: ShardSpecInputError }
  | { readonly kind: "InvalidCursor"; readonly reason: StoredCursorError }
  /** A size or a count that no record has. */
  | { readonly kind: "FieldTooLarge"; readonly field: string; readonly actual: number; readonly max: number }
  /** Bytes are left when all fields are read. */
  | { readonly kind: "TrailingBytes"; readonly remaining: number }
  /** All fields are there, and contradict each other. */
  | { readonly kind: "InvariantViolation"; readonly blob: BlobKind; readonly detail: string };

/** Why stored bytes are no cursor. `EmptyToken`: a missing token has another form. */
export type StoredCursorError =
  | CursorInputError
  | { readonly kind: "TokenWithoutKey" }
  | { readonly kind: "EmptyToken" };

/** The error in a sentence without a full stop. */
export function codecErrorInWords(error: CodecError): string {
  return matchError<CodecError, string>(error, {
    Truncated: ({ needed, remaining }) => `the record ends early: ${needed} bytes are needed and ${remaining} are left`,
    InvalidVersionPrefix: () => "the bytes do not begin as a record does",
    NewerVersion: ({ version, newest }) =>
      `the record has version ${version}, and this program reads up to version ${newest}`,
    InvalidBlobKind: ({ actual }) => `no kind of record has number ${actual}`,
    UnexpectedBlobKind: ({ expected, actual }) =>
      `a record of kind ${expected} was expected, and this is of kind ${actual}`,
    ChecksumMismatch: ({ size }) =>
      `the ${size} bytes of the record are not those that were written: the checksum differs`,
    InvalidBool: ({ field, actual }) => `${field} must be marked present or absent by 1 or 0, got ${actual}`,
    InvalidEnum: ({ field, actual }) => `${field} has no value with number ${actual}`,
    InvalidSpec: ({ reason }) => `the record's range is not valid: ${reason.kind}`,
    InvalidCursor: ({ reason }) => `the record's cursor is not valid: ${reason.kind}`,
    FieldTooLarge: ({ field, actual, max }) => `${field} must be at most ${max}, got ${actual}`,
    TrailingBytes: ({ remaining }) => `the record is followed by ${remaining} bytes that do not belong to it`,
    InvariantViolation: ({ blob, detail }) => `the record of kind ${blob} contradicts itself: ${detail}`,
  });
}

/**
 * The failure of a store that read bytes which cannot be decoded.
 *
 * `operation` is the dotted name of what it was doing. The cause is the error of the codec.
 */
export function corruptionFrom<const Label extends string>(
  error: CodecError,
  operation: Label & FixedText<Label>,
): InfraErrorOf<"Corruption"> {
  // The compiler cannot see that the sentence is made of our own words and of numbers. It is: nothing in a `CodecError`
  // comes from the bytes but codes and sizes.
  const message = codecErrorInWords(error) as "a sentence of the codec";
  return InfraError.corruption<Label, typeof message>({ operation, message, cause: error });
}
