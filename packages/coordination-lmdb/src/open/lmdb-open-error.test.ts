// A program that uses only this package shows the sentence to a person: a kind without one leaves an internal word, and one that quotes the
// driver may quote a path or a row.
import { Redacted } from "@gossip/stdx";
import { expect, test } from "vitest";
import { lmdbOpenErrorMessage, type LmdbOpenError } from "./lmdb-open-error.ts";

const cause = new Redacted(new Error("the driver's own words"));
const ERRORS: { readonly [K in LmdbOpenError["kind"]]: Extract<LmdbOpenError, { readonly kind: K }> } = {
  ReadOnlyFolder: { kind: "ReadOnlyFolder" },
  DiskFull: { kind: "DiskFull" },
  NewerFormat: { kind: "NewerFormat", found: 9, supported: 1 },
  NotAStore: { kind: "NotAStore" },
  Truncated: { kind: "Truncated", size: 4096, expected: 8192 },
  StoreDamaged: { kind: "StoreDamaged" },
  GateDamaged: { kind: "GateDamaged" },
  OtherDurability: { kind: "OtherDurability", openWith: "Written" },
  Unavailable: { kind: "Unavailable", code: "EIO", cause },
};

test("every error has a message of its own, with a remedy", () => {
  const messages = Object.values(ERRORS).map(lmdbOpenErrorMessage);
  for (const message of messages) {
    expect(message).toMatch(/^[^;\n]+; [^;\n]*[^.\n]$/);
    expect(message).not.toContain("driver's own");
  }
  expect(new Set(messages).size).toBe(messages.length);
});

test("the message contains the data of the error", () => {
  expect(lmdbOpenErrorMessage(ERRORS.NewerFormat)).toContain("format 9, and this version knows up to 1");
  expect(lmdbOpenErrorMessage(ERRORS.Truncated)).toContain("4096 bytes of 8192");
  expect(lmdbOpenErrorMessage(ERRORS.OtherDurability)).toContain("Written");
  expect(lmdbOpenErrorMessage(ERRORS.Unavailable)).toContain("(EIO)");
  expect(lmdbOpenErrorMessage({ kind: "Unavailable", code: undefined, cause })).toContain("unknown reason");
  expect(lmdbOpenErrorMessage({ kind: "Unavailable", code: "ENOTDIR", cause })).toContain("no folder");
});

test("an unknown kind has a message, and anything else is refused", () => {
  expect(lmdbOpenErrorMessage({ kind: "toString" } as unknown as LmdbOpenError)).toBe(
    "the store cannot be opened, for an unknown reason",
  );
  expect(() => lmdbOpenErrorMessage(undefined as unknown as LmdbOpenError)).toThrow(
    "error must be one of openLmdbStore",
  );
});
