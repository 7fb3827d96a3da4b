import { assert } from "@gossip/stdx";
import { assertErrorKind, canFailWith } from "./error-kind.ts";
import { OPERATIONS, type Operation } from "./error-routes.ts";
import type { AnyCoordError, ErrorOf } from "./operation-errors.ts";

/**
 * Take an error for one of `operation`.
 *
 * Typed code does not need it: a check's own union fits the operation's, or does not compile. It is for the edges where
 * the type is lost, such as RPC and logs. A kind that the operation cannot have means that the two ends disagree about
 * the protocol: an `InvariantViolation`.
 */
export function narrowCoordError<Op extends Operation>(operation: Op, error: AnyCoordError): ErrorOf<Op> {
  assert(OPERATIONS.includes(operation), "operation must be one of OPERATIONS");
  assertErrorKind(error, "what is narrowed");
  const { kind } = error;
  assert(canFailWith(operation, kind), () => `${operation} cannot fail with ${kind}`);
  return error as ErrorOf<Op>;
}
