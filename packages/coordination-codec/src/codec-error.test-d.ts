import type { InfraErrorOf } from "@gossip/coordination-errors";
import { expectTypeOf } from "vitest";
import { corruptionFrom, type CodecError } from "./codec-error.ts";

declare const error: CodecError;
declare const anyText: string;

expectTypeOf<CodecError["kind"]>().toEqualTypeOf<
  | "Truncated"
  | "InvalidVersionPrefix"
  | "NewerVersion"
  | "InvalidBlobKind"
  | "UnexpectedBlobKind"
  | "ChecksumMismatch"
  | "InvalidBool"
  | "InvalidEnum"
  | "InvalidSpec"
  | "InvalidCursor"
  | "FieldTooLarge"
  | "TrailingBytes"
  | "InvariantViolation"
>();

expectTypeOf(corruptionFrom(error, "claim.loadRun")).toEqualTypeOf<InfraErrorOf<"Corruption">>();

// @ts-expect-error a label that the program did not spell out could carry anything into a log
corruptionFrom(error, anyText);
