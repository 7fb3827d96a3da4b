// At an edge without types an error may claim to be of an operation that cannot have it. Taken at its word, it reaches
// code whose compiler promised that this case does not exist.

import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ERROR_ROUTES, OPERATIONS } from "./error-routes.ts";
import { anyError } from "./error-samples.fixture.ts";
import { narrowCoordError } from "./narrow-coord-error.ts";

test("gives back the same error exactly where the operation can have it", () => {
  fc.assert(
    fc.property(anyError, fc.constantFrom(...OPERATIONS), (error, operation) => {
      if (ERROR_ROUTES[error.kind][operation] === "no") {
        expect(() => narrowCoordError(operation, error)).toThrow(`${operation} cannot fail with ${error.kind}`);
      } else {
        expect(narrowCoordError(operation, error)).toBe(error);
      }
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["renew", undefined],
  ["renew", { kind: "Odd" }],
  ["renew", { kind: "constructor" }],
  ["toString", { kind: "StaleFence" }],
  [undefined, { kind: "StaleFence" }],
])("%o and %o are refused", (operation, error) => {
  expect(() => narrowCoordError(operation as never, error as never)).toThrow(InvariantViolation);
});
