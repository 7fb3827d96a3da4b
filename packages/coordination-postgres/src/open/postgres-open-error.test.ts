// A program that uses only this package shows these sentences to a person. A kind without one shows an internal word instead, and a sentence that
// quotes the driver writes the password into a log.
import { Redacted } from "@gossip/stdx";
import { expect, test } from "vitest";
import { postgresOpenErrorMessage, type PostgresOpenError } from "./postgres-open-error.ts";

const failed = { code: "X1234", cause: new Redacted(new Error("postgres://ann:secret@db")) };
const versions = { found: 9, supported: 2 };
const ERRORS: { readonly [K in PostgresOpenError["kind"]]: Extract<PostgresOpenError, { readonly kind: K }> } = {
  InvalidUrl: { kind: "InvalidUrl", part: "Form" },
  Unreachable: { kind: "Unreachable", ...failed },
  AccessDenied: { kind: "AccessDenied", ...failed },
  MissingDatabase: { kind: "MissingDatabase", ...failed },
  NotPermitted: { kind: "NotPermitted", ...failed },
  OldServer: { kind: "OldServer", ...versions },
  NewerSchema: { kind: "NewerSchema", ...versions },
  MigrationNeeded: { kind: "MigrationNeeded", ...versions },
  MigrationUnsafe: { kind: "MigrationUnsafe", ...versions, otherSessions: 3 },
  Unavailable: { kind: "Unavailable", ...failed },
};

test("every kind has its own sentence, with what to do next", () => {
  const noTables = { kind: "MigrationNeeded", found: 0, supported: 2 } as const;
  const faults = (["Port", "Ssl", "Setting"] as const).map((part) => ({ kind: "InvalidUrl", part }) as const);
  const messages = [...Object.values(ERRORS), ...faults, noTables].map(postgresOpenErrorMessage);
  for (const message of messages) {
    expect(message).toMatch(/^[^;\n]+; [^;\n]*[^.\n]$/);
    expect(message).not.toContain("secret");
  }
  expect(new Set(messages).size).toBe(messages.length);
});

test("a sentence holds the details of its error", () => {
  for (const kind of ["Unreachable", "AccessDenied", "Unavailable"] as const) {
    expect(postgresOpenErrorMessage(ERRORS[kind])).toContain("(X1234)");
    expect(postgresOpenErrorMessage({ ...ERRORS[kind], code: undefined })).not.toMatch(/\(|undefined/);
  }
  expect(postgresOpenErrorMessage(ERRORS.OldServer)).toContain("PostgreSQL 9, and 2 is the oldest");
  expect(postgresOpenErrorMessage(ERRORS.NewerSchema)).toContain("version 9, and this version knows up to 2");
  expect(postgresOpenErrorMessage({ kind: "MigrationNeeded", found: 1, supported: 2 })).toContain(
    "version 1 and must be brought to 2",
  );
  for (const kind of ["MigrationNeeded", "MigrationUnsafe"] as const)
    expect(postgresOpenErrorMessage(ERRORS[kind])).toContain("`gossip store migrate`");
  expect(postgresOpenErrorMessage(ERRORS.MigrationUnsafe)).toContain("3 other sessions are connected");
  expect(postgresOpenErrorMessage({ ...ERRORS.MigrationUnsafe, otherSessions: 1 })).toContain(
    "1 other session is connected",
  );
});

test("an unknown kind has a sentence, and anything else is refused", () => {
  expect(postgresOpenErrorMessage({ kind: "toString" } as unknown as PostgresOpenError)).toBe(
    "the store cannot be opened, for an unknown reason",
  );
  expect(() => postgresOpenErrorMessage(undefined as unknown as PostgresOpenError)).toThrow(
    "error must be one of openPostgresStore",
  );
});
