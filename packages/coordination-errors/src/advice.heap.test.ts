// A worker asks for advice at every failure of a claim loop. An object a call would come back unnoticed: everything still
// works, only slower and with pauses.

import { LogicalTime, WorkerId } from "@gossip/contracts";
import { heapBytesPerCall } from "@gossip/tools/heap";
import { expect, test } from "vitest";
import { adviceFor, waitUntil } from "./advice.ts";
import { coordError } from "./coord-error.ts";
import { InfraError } from "./infra-error.ts";
import type { AnyCoordError } from "./operation-errors.ts";

const lost = InfraError.transient({ operation: "test.read", message: "the connection was lost" });
const errors: readonly AnyCoordError[] = [
  coordError("AlreadyLeased", { currentOwner: WorkerId.fromRaw(5n), leaseDeadline: LogicalTime.fromRaw(7n) }),
  coordError("NoneAvailable", { earliestDeadline: LogicalTime.fromRaw(7n) }),
  coordError("RunNotFound"),
  coordError("GetRunFailed", { reason: coordError("BackendError", { reason: lost }) }),
];

// The least object is 16 bytes.
test.each([
  ["adviceFor", adviceFor],
  ["waitUntil", waitUntil],
] as const)("%s allocates nothing", (_, ask) => {
  let answers = 0;
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) if (ask(errors[call % errors.length]!) !== undefined) answers++;
  });
  expect(answers).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(8);
});
