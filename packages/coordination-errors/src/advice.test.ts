// Workers act on advice without reading the error. "Reacquire" where it should be "Stop" is a worker that spins on a
// finished shard; "RetrySameOpId" for a caller's bug is one that never stops.

import { LogicalTime, type WorkerId } from "@gossip/contracts";
import { InvariantViolation } from "@gossip/stdx";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ADVICE, adviceFor, waitUntil, type Advice } from "./advice.ts";
import { coordError } from "./coord-error.ts";
import { anyError, ERROR_KINDS, errorsOfKind } from "./error-samples.fixture.ts";
import type { ErrorKind } from "./error-routes.ts";
import { InfraError } from "./infra-error.ts";

/** The classes of the design document, and what its guidance says of each kind. */
const RETRYABLE: Readonly<Partial<Record<ErrorKind, Advice>>> = {
  AlreadyLeased: "WaitUntil",
  LeaseExpired: "Reacquire",
  ResourceExhausted: "RetrySameOpId",
  Throttled: "WaitUntil",
};
const FATAL: Readonly<Partial<Record<ErrorKind, Advice>>> = {
  StaleFence: "Reacquire",
  ShardTerminal: "Stop",
  OpIdConflict: "FixCaller",
  CursorRegression: "FixCaller",
  CursorOutOfBounds: "FixCaller",
  CursorKeyTooLarge: "FixCaller",
  CursorTokenTooLarge: "FixCaller",
  SplitInvalid: "FixCaller",
  CheckpointMissingKey: "FixCaller",
};
const ESCALATION: Readonly<Partial<Record<ErrorKind, Advice>>> = { TenantMismatch: "Report", ShardNotFound: "Report" };

const transient = InfraError.transient({ operation: "test.commit", message: "the connection was lost" });
const corruption = InfraError.corruption({ operation: "test.decode", message: "the record is cut short" });

describe("adviceFor", () => {
  test.each(Object.entries({ ...RETRYABLE, ...FATAL, ...ESCALATION }))(
    "%s: %s, as the document says",
    (kind, advice) => {
      fc.assert(fc.property(errorsOfKind<ErrorKind>(kind as ErrorKind), (error) => adviceFor(error) === advice));
    },
  );

  test("none available: wait for the first lease to lapse; with none held there is nothing to wait for", () => {
    const deadline = LogicalTime.fromRaw(5n);
    expect(adviceFor(coordError("NoneAvailable", { earliestDeadline: deadline }))).toBe("WaitUntil");
    expect(adviceFor(coordError("NoneAvailable", { earliestDeadline: undefined }))).toBe("Stop");
  });

  test("a store that failed: retry if it may pass, else report; also where another error wraps it", () => {
    for (const [reason, advice] of [
      [transient, "RetrySameOpId"],
      [corruption, "Report"],
    ] as const) {
      const error = coordError("BackendError", { reason });
      expect(adviceFor(error)).toBe(advice);
      expect(adviceFor(coordError("GetRunFailed", { reason: error }))).toBe(advice);
      expect(adviceFor(coordError("RegisterShardsFailed", { reason: error }))).toBe(advice);
    }
  });

  test("is one of those that the table lists for the kind, and each of those does occur", () => {
    const seen = new Map<ErrorKind, Set<Advice>>(ERROR_KINDS.map((kind) => [kind, new Set()]));
    fc.assert(
      fc.property(anyError, (error) => void seen.get(error.kind)!.add(adviceFor(error))),
      { numRuns: 10_000, examples: fixedExamples(5000, anyError) },
    );
    for (const kind of ERROR_KINDS) {
      const listed = ADVICE[kind];
      expect([...seen.get(kind)!].sort(), kind).toEqual(
        typeof listed === "string" ? [listed] : [...listed.cases].sort(),
      );
    }
  });

  test("knows a time exactly where it says to wait", () => {
    fc.assert(
      fc.property(anyError, (error) => (adviceFor(error) === "WaitUntil") === (waitUntil(error) !== undefined)),
    );
    const owner = 5n as WorkerId;
    expect(
      waitUntil(coordError("AlreadyLeased", { currentOwner: owner, leaseDeadline: LogicalTime.fromRaw(7n) })),
    ).toBe(7n);
    expect(waitUntil(coordError("Throttled", { retryAfter: LogicalTime.fromRaw(8n) }))).toBe(8n);
    expect(waitUntil(coordError("NoneAvailable", { earliestDeadline: LogicalTime.fromRaw(9n) }))).toBe(9n);
  });

  test("a clone gets the advice of the original", () => {
    fc.assert(
      fc.property(anyError, (error) => {
        const clone = structuredClone(error) as typeof error;
        expect(adviceFor(clone)).toBe(adviceFor(error));
        expect(waitUntil(clone)).toBe(waitUntil(error));
      }),
    );
  });

  test.each([undefined, null, "StaleFence", {}, { kind: "Odd" }, { kind: "toString" }])(
    "%o is no error of ours",
    (given) => {
      expect(() => adviceFor(given as never)).toThrow(InvariantViolation);
      expect(() => waitUntil(given as never)).toThrow(InvariantViolation);
    },
  );

  test("a wrapped reason that is none is reported", () => {
    expect(adviceFor(coordError("BackendError", { reason: undefined as never }))).toBe("Report");
    expect(adviceFor(coordError("GetRunFailed", { reason: { kind: "Odd" } as never }))).toBe("Report");
  });
});
