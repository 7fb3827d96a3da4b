import { assert, InvariantViolation } from "./assert.ts";
import { nameType } from "./name-type.ts";
import type { Result } from "./result.ts";

/**
 * The value of a result that cannot have failed here.
 *
 * A failure is then a broken invariant and throws. The message names the
 * error's `kind` and nothing else of it: the rest may be somebody's data.
 */
export function unwrap<T>(result: Result<T, unknown>): T {
  assert(
    typeof result === "object" && result !== null,
    () => `only a Result can be unwrapped, got ${nameType(result)}`,
  );
  if (result.ok) return result.value;
  throw new InvariantViolation(`unwrapped a failure of kind ${kindOf(result.error)}`);
}

function kindOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("kind" in error)) return "unknown";
  return typeof error.kind === "string" ? error.kind : "unknown";
}
