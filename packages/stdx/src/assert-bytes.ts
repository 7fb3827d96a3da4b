import { assert } from "./assert.ts";
import { nameType } from "./name-type.ts";

// The getter reads the array's internal type, so it is right for arrays of another realm and for objects
// that only inherit from `Uint8Array.prototype`.
const { get: typedArrayName } = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
) as { get: (this: unknown) => string | undefined };

/** Whether a value is a `Uint8Array`, a Node `Buffer` included. */
export function isBytes(value: unknown): value is Uint8Array {
  return typedArrayName.call(value) === "Uint8Array";
}

/**
 * Assert that a value is a `Uint8Array`, a Node `Buffer` included.
 *
 * `what` is the argument's name in the message. The message contains the type that
 * was passed, and none of the content.
 */
export function assertBytes(value: unknown, what: string): asserts value is Uint8Array {
  if (typedArrayName.call(value) !== "Uint8Array") refuse(value, what);
}

// Separate from the check, so that the check is small enough to be inlined.
function refuse(value: unknown, what: string): never {
  assert(false, `${what} must be a Uint8Array, got ${nameType(value)}`);
}
