// A program that starts a run shows this sentence to a person. Without one it prints a kind, and a kind with the wrong sentence sends
// people looking in the wrong place.
import { RunId, TenantId } from "@gossip/contracts";
import { coordError, InfraError, messageOf } from "@gossip/coordination-errors";
import { expect, test } from "vitest";
import { startRunErrorMessage, type StartRunError } from "./start-run-error.ts";

const refused = coordError("ConfigMismatch", { run: RunId.fromRaw(7n) });
const foreign = coordError("TenantMismatch", { expected: TenantId.fromBytes(new Uint8Array(32).fill(0xab)) });
const broken = coordError("BackendError", {
  reason: InfraError.transient({ operation: "getRun.load", message: "the connection was lost", cause: "hunter2" }),
});

test("a source has its own sentence, and the coordinator its own", () => {
  for (const kind of ["SourceMissing", "SourceUnreadable", "SourceInvalid"] as const)
    expect(startRunErrorMessage({ kind, reason: "there is no folder x" })).toBe("there is no folder x");
  expect(startRunErrorMessage(refused)).toBe(messageOf(refused));
  expect(startRunErrorMessage(broken)).toContain("the connection was lost");
});

test("every kind of its own has another sentence", () => {
  const own = [{ kind: "SettingsMismatch" }, { kind: "Aborted" }, refused, broken] as const;
  const messages = own.map(startRunErrorMessage);
  for (const message of messages) expect(message).toMatch(/^\S.{10,}[^.]$/);
  expect(new Set(messages).size).toBe(own.length);
});

test("no hidden value is shown", () => {
  expect(startRunErrorMessage(broken)).not.toContain("hunter2");
  expect(startRunErrorMessage(foreign as StartRunError)).not.toContain("ab".repeat(32));
});

test("what is no error is refused with a sentence", () => {
  expect(() => startRunErrorMessage(undefined as unknown as StartRunError)).toThrow("error must be one of startRun");
});
