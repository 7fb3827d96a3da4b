/**
 * A broken invariant: the program is wrong, not the request.
 *
 * Callers never match on this. It escapes every `Result` on purpose, so that a
 * worker holding a lease stops instead of acting on state it cannot trust.
 */
export class InvariantViolation extends Error {
  static {
    // On the prototype, because the first line of the stack is written before fields are set.
    Object.defineProperty(this.prototype, "name", { value: "InvariantViolation", writable: true, configurable: true });
  }
}

/**
 * Throw `InvariantViolation` unless `condition` holds.
 *
 * State what must be true. Pass a function if the message is expensive to build:
 * it runs only on failure.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantViolation(typeof message === "string" ? message : message());
}
