// The reason is what an operator sees of a parked shard. A wrong one sends them looking in the wrong place.

import { expect, test } from "vitest";
import { parkReasonFor } from "./park-reason-for.ts";
import { ParkShard } from "./park-shard.ts";

test.each([
  [new ParkShard("Other"), "Other"],
  [{ code: "EPERM" }, "PermissionDenied"],
  [{ code: "ENOTDIR" }, "NotFound"],
  [{ error: { kind: "SourceMissing", reason: "" } }, "NotFound"],
  [{ error: { kind: "SourceInvalid", reason: "" } }, "Poisoned"],
  [{ error: { kind: "SourceUnreadable", reason: "" } }, "TooManyErrors"],
  [{ code: "toString" }, "TooManyErrors"],
  [{ code: 13 }, "TooManyErrors"],
  [new Error("plain"), "TooManyErrors"],
  [null, "TooManyErrors"],
  ["text", "TooManyErrors"],
])("%o is parked as %s", (cause, reason) => {
  expect(parkReasonFor(cause, "TooManyErrors")).toBe(reason);
});

test("a reason of one's own must be one of the known", () => {
  expect(() => new ParkShard("Because" as never)).toThrow("park reason must be one of ParkReason.values");
  expect(new ParkShard("NotFound")).toMatchObject({ name: "ParkShard", message: "not found", reason: "NotFound" });
});
