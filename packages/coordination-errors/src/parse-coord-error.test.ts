// An error that crosses a wire must arrive as the same error, or as a clear statement that it did not. The worst
// outcomes are a throw inside the client's error path, and a malformed error taken for a sound one.

import { LogicalTime, TenantId, WorkerId } from "@gossip/contracts";
import { assert, Redacted, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { coordError } from "./coord-error.ts";
import { anyError, ERROR_KINDS, errorsOfKind, fieldsOf } from "./error-samples.fixture.ts";
import type { ErrorKind } from "./error-routes.ts";
import { InfraError } from "./infra-error.ts";
import { parseCoordError } from "./parse-coord-error.ts";

function refusal(json: unknown): unknown {
  const parsed = parseCoordError(json);
  return parsed.ok ? undefined : parsed.error;
}

describe("parseCoordError", () => {
  test.each(ERROR_KINDS)("%s comes back as it went, but for what is hidden", (kind) => {
    fc.assert(
      fc.property(errorsOfKind<ErrorKind>(kind), (error) => {
        const text = JSON.stringify(error);
        const parsed = unwrap(parseCoordError(text));
        // Hidden values are not compared: what a wrapper holds is not a property of it.
        expect(parsed).toEqual(error);
        expect(Object.getPrototypeOf(parsed)).toBe(Object.getPrototypeOf(error));
        expect(JSON.stringify(parsed)).toBe(text);
        expect(parsed.message).toBe(error.message);
        expect(String(parsed)).toBe(String(error));
      }),
    );
  });

  test("a text and the value parsed from it are the same to it", () => {
    fc.assert(
      fc.property(anyError, (error) => {
        expect(parseCoordError(JSON.parse(JSON.stringify(error)))).toEqual(parseCoordError(JSON.stringify(error)));
      }),
    );
  });

  test("what was hidden stayed behind", () => {
    const leased = coordError("AlreadyLeased", {
      currentOwner: WorkerId.fromRaw(5n),
      leaseDeadline: LogicalTime.fromRaw(7n),
    });
    const parsed = unwrap(parseCoordError(JSON.stringify(leased)));
    expect(parsed.kind === "AlreadyLeased" && Redacted.reveal(parsed.currentOwner)).toBe(undefined);

    const stranger = coordError("TenantMismatch", { expected: TenantId.ZERO });
    const mismatch = unwrap(parseCoordError(JSON.stringify(stranger)));
    expect(mismatch.kind === "TenantMismatch" && Redacted.reveal(mismatch.expected)).toBe(undefined);
    expect(mismatch.message).toContain("00000000..");
  });

  test("a wrapped error arrives whole", () => {
    const failed = coordError("RegisterShardsFailed", {
      reason: coordError("WrongStatus", { status: "Done", target: "Active" }),
    });
    const parsed = unwrap(parseCoordError(JSON.stringify(failed)));
    expect(parsed.kind === "RegisterShardsFailed" && parsed.reason.message).toBe(failed.reason.message);
  });

  test("JSON of an error that was cloned before can be read too", () => {
    const clone = { ...coordError("TenantMismatch", { expected: TenantId.ZERO }), expected: {} };
    const parsed = unwrap(parseCoordError({ ...clone, expected: "<redacted>" }));
    expect(parsed.message).toContain("<redacted>");
  });

  test("what a driver threw stays behind", () => {
    const reason = InfraError.transient({
      operation: "acquire.loadShard",
      message: "the connection was lost",
      code: 14,
      cause: new Error("row 7"),
    });
    const error = coordError("BackendError", { reason });
    expect(JSON.parse(JSON.stringify(error))).toStrictEqual({
      kind: "BackendError",
      reason: { kind: "Transient", operation: "acquire.loadShard", message: "the connection was lost", code: "14" },
    });
    expect(coordError("NoneAvailable", { earliestDeadline: undefined }).toJSON()).toStrictEqual({
      kind: "NoneAvailable",
    });
    const parsed = unwrap(parseCoordError(JSON.stringify(error)));
    expect(parsed.kind === "BackendError" && Redacted.reveal(parsed.reason.cause)).toBe(undefined);
  });

  test("fields that it does not know are left behind", () => {
    const parsed = unwrap(parseCoordError({ kind: "RunNotFound", addedLater: 1, message: "…" }));
    expect(Object.keys(parsed)).toEqual(["kind"]);
  });

  test.each([
    { given: "", error: { kind: "NotJson" } },
    { given: "{kind}", error: { kind: "NotJson" } },
    { given: '{"kind":"RunNotFound"} ', error: undefined },
    { given: '"RunNotFound"', error: { kind: "NotAnObject", given: "string" } },
    { given: "null", error: { kind: "NotAnObject", given: "null" } },
    { given: undefined, error: { kind: "NotAnObject", given: "undefined" } },
    { given: 7n, error: { kind: "NotAnObject", given: "bigint" } },
    { given: [{ kind: "RunNotFound" }], error: { kind: "NotAnObject", given: "array" } },
    { given: {}, error: { kind: "UnknownKind", given: new Redacted(undefined) } },
    { given: { kind: 3 }, error: { kind: "UnknownKind", given: new Redacted(undefined) } },
    { given: { kind: "ShardFrozen" }, error: { kind: "UnknownKind", given: new Redacted("ShardFrozen") } },
    { given: { kind: "logs/2026/secret" }, error: { kind: "UnknownKind", given: new Redacted(undefined) } },
    { given: { kind: "toString" }, error: { kind: "UnknownKind", given: new Redacted(undefined) } },
    { given: { kind: "__proto__" }, error: { kind: "UnknownKind", given: new Redacted(undefined) } },
    {
      given: JSON.parse('{"__proto__":{"kind":"RunNotFound"}}') as unknown,
      error: { kind: "UnknownKind", given: new Redacted(undefined) },
    },
  ])("$given is refused with $error", ({ given, error }) => {
    expect(refusal(given)).toEqual(error);
  });

  test.each([
    { kind: "ShardFrozen", revealed: "ShardFrozen" },
    { kind: `A${"b".repeat(39)}`, revealed: `A${"b".repeat(39)}` },
    { kind: `A${"b".repeat(40)}`, revealed: undefined },
    { kind: "logs/2026/secret", revealed: undefined },
    { kind: "toString", revealed: undefined },
    { kind: 3, revealed: undefined },
  ])("an unknown kind $kind is kept as $revealed", ({ kind, revealed }) => {
    const parsed = parseCoordError({ kind });
    assert(!parsed.ok && parsed.error.kind === "UnknownKind", "the kind must be unknown");
    expect(Redacted.reveal(parsed.error.given)).toBe(revealed);
  });

  test("a refusal never shows what was given, however much it looks like an error", () => {
    const secret = fc.stringMatching(/^Secret[A-Za-z]{4,30}$/);
    const anyField = fc.constantFrom(...new Set(ERROR_KINDS.flatMap((name) => [...fieldsOf(name)])));
    fc.assert(
      fc.property(secret, fc.constantFrom(...ERROR_KINDS), anyField, (given, kind, field) => {
        const nested = { kind: given, [given]: given, reason: { kind: given } };
        const inputs = [
          given,
          `"${given}"`,
          [given],
          { kind: given },
          nested,
          { kind, [field]: given },
          { kind, [field]: nested },
        ];
        for (const input of inputs) {
          const parsed = parseCoordError(input);
          for (const shown of [JSON.stringify(parsed), inspect(parsed, { depth: null })])
            if (!parsed.ok) expect(shown).not.toContain(given);
        }
      }),
    );
  });

  test.each([
    {
      json: { kind: "StaleFence", presented: "0000000000000002" },
      field: "current",
      expected: "16 lowercase hex digits",
    },
    { json: { kind: "StaleFence", presented: 2, current: 3 }, field: "presented", expected: "16 lowercase hex digits" },
    { json: { kind: "CursorKeyTooLarge", size: -1, max: 4096 }, field: "size", expected: "a size in bytes" },
    { json: { kind: "CursorKeyTooLarge", size: 1.5, max: 4096 }, field: "size", expected: "a size in bytes" },
    {
      json: { kind: "ShardNotFound", shard: { run: "0000000000000001" } },
      field: "shard.shard",
      expected: "16 lowercase hex digits",
    },
    { json: { kind: "ShardNotFound", shard: "1/2" }, field: "shard", expected: "an object with run and shard" },
    {
      json: { kind: "RunTerminal", status: "Parked" },
      field: "status",
      expected: "one of Initializing, Active, Done, Failed, Cancelled",
    },
    {
      json: { kind: "InvalidConfig", reason: { kind: "Odd" } },
      field: "reason.kind",
      expected: "one of ZeroLeaseDuration",
    },
    {
      json: { kind: "InvalidConfig", reason: { kind: "toString" } },
      field: "reason.kind",
      expected: "one of ZeroLeaseDuration",
    },
    {
      json: { kind: "AlreadyLeased", currentOwner: "0000000000000005", leaseDeadline: "0000000000000005" },
      field: "currentOwner",
      expected: "<redacted>",
    },
    {
      json: { kind: "TenantMismatch", expected: "0".repeat(64) },
      field: "expected",
      expected: "8 lowercase hex digits and two dots",
    },
    {
      json: { kind: "BackendError", reason: { kind: "Transient", operation: "a b", message: "m" } },
      field: "reason.operation",
      expected: "a dotted label",
    },
    {
      json: { kind: "GetRunFailed", reason: { kind: "StaleFence" } },
      field: "reason.kind",
      expected: "a way in which getRun can fail",
    },
    {
      json: { kind: "GetRunFailed", reason: { kind: "GetRunFailed", reason: {} } },
      field: "reason.kind",
      expected: "a way in which getRun can fail",
    },
    {
      json: {
        kind: "ManifestInvalid",
        reason: { kind: "InvalidSpec", shardId: "0000000000000001", reason: { kind: "KeyTooLarge", size: 1 } },
      },
      field: "reason.reason.max",
      expected: "a size in bytes",
    },
  ])("$json.kind: $field must be $expected", ({ json, field, expected }) => {
    expect(refusal(json)).toEqual({ kind: "InvalidField", of: json.kind, field, expected });
  });

  test("a field that is missing is refused, unless it may be", () => {
    const mayBeMissing = new Set(["oldKey", "newKey", "earliestDeadline", "target", "slab"]);
    fc.assert(
      fc.property(anyError, (error) => {
        for (const field of fieldsOf(error.kind)) {
          const { [field]: _, ...rest } = error.toJSON();
          expect(parseCoordError(rest).ok, field).toBe(mayBeMissing.has(field));
        }
      }),
    );
  });

  test("whatever it is given, it answers", () => {
    const kind = fc.oneof(fc.constantFrom(...ERROR_KINDS), fc.string());
    const anyField = fc.constantFrom(...new Set(ERROR_KINDS.flatMap((name) => [...fieldsOf(name)])));
    const almost = fc
      .tuple(kind, fc.dictionary(anyField, fc.jsonValue()))
      .map(([name, fields]) => ({ ...fields, kind: name }));
    fc.assert(
      fc.property(
        fc.oneof(almost, fc.jsonValue(), fc.json(), fc.string(), fc.anything()),
        (given) => void parseCoordError(given),
      ),
    );
  });
});
