// Users of this package show the message to people. A kind without one leaves them with an identifier, and a full disk
// reported as a wrong password sends them in the wrong direction.
import { EtcdCode } from "@gossip/etcd-client";
import { expect, test } from "vitest";
import { etcdOpenErrorMessage, type EtcdOpenError } from "./etcd-open-error.ts";

const ERRORS: { readonly [K in EtcdOpenError["kind"]]: Extract<EtcdOpenError, { readonly kind: K }> } = {
  Unavailable: { kind: "Unavailable", reason: "ECONNREFUSED" },
  Refused: { kind: "Refused", code: 2, reason: "words of etcd" },
  NotAStore: { kind: "NotAStore" },
  NewerFormat: { kind: "NewerFormat", found: 9, supported: 1 },
  TxnBudgetTooSmall: { kind: "TxnBudgetTooSmall", needed: 64 },
};

const refused = (code: number): string => etcdOpenErrorMessage({ kind: "Refused", code, reason: "words of etcd" });

test("every reason has its own sentence, with what to do next", () => {
  const messages = Object.values(ERRORS).map(etcdOpenErrorMessage);
  for (const message of messages) expect(message).toMatch(/^[^;\n]+; [^;\n]*[^.\n]$/);
  expect(new Set(messages).size).toBe(messages.length);
});

test("the message includes the details of the error", () => {
  expect(etcdOpenErrorMessage(ERRORS.Unavailable)).toContain("(ECONNREFUSED)");
  expect(etcdOpenErrorMessage(ERRORS.NewerFormat)).toContain("format 9, and this version knows up to 1");
  expect(etcdOpenErrorMessage(ERRORS.TxnBudgetTooSmall)).toContain("--max-txn-ops=64");
});

test("every refusal code has its own message", () => {
  expect(refused(EtcdCode.InvalidArgument)).toBe(refused(EtcdCode.Unauthenticated));
  expect(refused(EtcdCode.Unauthenticated)).toContain("the login");
  expect(refused(EtcdCode.PermissionDenied)).toContain("may not use the prefix");
  expect(refused(EtcdCode.ResourceExhausted)).toContain("out of room");
  expect(refused(2)).toContain("code 2");
  for (const code of [2, ...Object.values(EtcdCode)]) expect(refused(code)).toContain("words of etcd");
});

test("an unknown kind has a sentence, and anything else is refused", () => {
  expect(etcdOpenErrorMessage({ kind: "toString" } as unknown as EtcdOpenError)).toBe(
    "the store cannot be opened, for an unknown reason",
  );
  expect(() => etcdOpenErrorMessage(undefined as unknown as EtcdOpenError)).toThrow(
    "error must be one of openEtcdStore",
  );
});
