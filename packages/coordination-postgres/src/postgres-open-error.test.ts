// Whoever has only this package shows the sentence to a person: a kind without one leaves them with a word of ours, and one that quotes the
// driver tells every log the password.
import { Redacted } from "@gossip/stdx";
import { expect, test } from "vitest";
import { postgresOpenErrorMessage, type PostgresOpenError } from "./postgres-open-error.ts";

const failed = { code: "X1234", cause: new Redacted(new Error("postgres://ann:secret@db")) };
const versions = { found: 9, supported: 2 };
const ERRORS: { readonly [K in PostgresOpenError["kind"]]: Extract<PostgresOpenError, { readonly kind: K }> } = {
  InvalidUrl: { kind: "InvalidUrl" },
  Unreachable: { kind: "Unreachable", ...failed },
  AccessDenied: { kind: "AccessDenied", ...failed },
  MissingDatabase: { kind: "MissingDatabase", ...failed },
  NotPermitted: { kind: "NotPermitted", ...failed },
  OldServer: { kind: "OldServer", ...versions },
  NewerSchema: { kind: "NewerSchema", ...versions },
  MigrationNeeded: { kind: "MigrationNeeded", ...versions },
  Unavailable: { kind: "Unavailable", ...failed },
};

test("every reason has a sentence of its own, with a way on", () => {
  const noTables = { kind: "MigrationNeeded", found: 0, supported: 2 } as const;
  const messages = [...Object.values(ERRORS), noTables].map(postgresOpenErrorMessage);
  for (const message of messages) {
    expect(message).toMatch(/^[^;\n]+; [^;\n]*[^.\n]$/);
    expect(message).not.toContain("secret");
  }
  expect(new Set(messages).size).toBe(messages.length);
});

test("it tells what only the error knows", () => {
  for (const kind of ["Unreachable", "AccessDenied", "Unavailable"] as const) {
    expect(postgresOpenErrorMessage(ERRORS[kind])).toContain("(X1234)");
    expect(postgresOpenErrorMessage({ ...ERRORS[kind], code: undefined })).not.toMatch(/\(|undefined/);
  }
  expect(postgresOpenErrorMessage(ERRORS.OldServer)).toContain("PostgreSQL 9, and 2 is the oldest");
  expect(postgresOpenErrorMessage(ERRORS.NewerSchema)).toContain("version 9, and this version knows up to 2");
  expect(postgresOpenErrorMessage({ kind: "MigrationNeeded", found: 1, supported: 2 })).toContain(
    "version 1 and must be brought to 2",
  );
});

test("what is no such error has a sentence, or is refused with one", () => {
  expect(postgresOpenErrorMessage({ kind: "toString" } as unknown as PostgresOpenError)).toBe(
    "the store cannot be opened, for an unknown reason",
  );
  expect(() => postgresOpenErrorMessage(undefined as unknown as PostgresOpenError)).toThrow(
    "error must be one of openPostgresStore",
  );
});
