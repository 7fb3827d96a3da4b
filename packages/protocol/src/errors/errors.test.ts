// A client that cannot read an error back as the error that it was does the wrong thing about it.
import { LogicalTime, ShardId, ShardKey, RunId } from "@gossip/contracts";
import { coordError, ERROR_ROUTES, InfraError, parseCoordError, type ErrorKind } from "@gossip/coordination-errors";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { PROTOCOL_ERRORS, protocolError, writeProtocolError } from "./protocol-error.ts";
import { ERROR_STATUS, statusOf } from "./status-of.ts";
import { writeCoordError } from "./write-coord-error.ts";

const NOW = LogicalTime.fromRaw(1_000n);
const at = (raw: bigint) => LogicalTime.fromRaw(raw);

test("an error is sent as parseCoordError reads it, with its advice and its wait", () => {
  const error = coordError("NoneAvailable", { earliestDeadline: at(1_250n) });
  const wire = writeCoordError(error, NOW);
  expect(wire).toMatchObject({ kind: "NoneAvailable", advice: "WaitUntil", retryAfterMs: 250 });
  expect(wire.message).toBe(error.message);
  expect(unwrap(parseCoordError(JSON.stringify(wire)))).toEqual(error);
});

test("a wait is neither negative nor endless", () => {
  const waitUntil = (raw: bigint) =>
    writeCoordError(coordError("Throttled", { retryAfter: at(raw) }), NOW).retryAfterMs;
  expect([waitUntil(1n), waitUntil(2n ** 64n - 1n)]).toEqual([0, 3_600_000]);
  expect(writeCoordError(coordError("RunNotFound"), NOW).retryAfterMs).toBeUndefined();
});

test("the status gives the class of the error", () => {
  const shard = ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(2n));
  expect(statusOf(coordError("SessionClosed", { shard }))).toBe(409);
  expect(statusOf(coordError("RunNotFound"))).toBe(404);
  expect(statusOf(coordError("GetRunFailed", { reason: coordError("RunNotFound") }))).toBe(404);
  const transient = InfraError.transient({ operation: "x.y", message: "later" });
  const corrupt = InfraError.corruption({ operation: "x.y", message: "broken" });
  expect(statusOf(coordError("BackendError", { reason: transient }))).toBe(503);
  expect(statusOf(coordError("BackendError", { reason: corrupt }))).toBe(500);
  expect(Object.keys(ERROR_STATUS).sort()).toEqual((Object.keys(ERROR_ROUTES) as ErrorKind[]).sort());
});

test("no kind of the protocol is a kind of coordination", () => {
  for (const kind of Object.keys(PROTOCOL_ERRORS)) expect(Object.hasOwn(ERROR_ROUTES, kind)).toBe(false);
  expect(writeProtocolError(protocolError("Misdirected", "m", { owner: "h:1" }))).toEqual({
    kind: "Misdirected",
    message: "m",
    owner: "h:1",
    advice: "RetrySameOpId",
  });
});
