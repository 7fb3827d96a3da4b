import { assert, InvariantViolation } from "./assert.ts";
import { nameKind, nameType } from "./name-type.ts";
import type { Result } from "./result.ts";

/**
 * Returns the value of a result that cannot have failed here.
 *
 * Throws `InvariantViolation` if it did fail. The message contains the error's `kind` and nothing else
 * of the error, because the rest may be user data.
 */
export function unwrap<T>(result: Result<T, unknown>): T {
  assert(
    typeof result === "object" && result !== null,
    () => `only a Result can be unwrapped, got ${nameType(result)}`,
  );
  if (result.ok) return result.value;
  throw new InvariantViolation(`unwrapped a failure of kind ${nameKind(result.error)}`);
}
