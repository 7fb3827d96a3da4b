/**
 * A broken invariant: the program is wrong, not the request.
 *
 * Callers never match on this. It escapes every `Result` on purpose, so that a worker holding a lease stops instead of
 * acting on state it cannot trust.
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
 * State what must be true. Pass a function if the message is expensive to build: it runs only on failure.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantViolation(typeof message === "string" ? message : message());
}

/**
 * Describes a value for an error message.
 *
 * Prints numbers and booleans as they are, because the value of a wrong count helps to fix it. For everything else it
 * prints only the type, because the content may be a key.
 */
export function nameType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "object" ? nameObject(value) : `a ${typeof value}`;
}

const KIND_NAME = /^[A-Za-z]{1,40}$/;

/** The `kind` of an error, if it looks like one. A `kind` that was read from outside may hold any text. */
export function nameKind(error: unknown): string {
  if (typeof error !== "object" || error === null || !("kind" in error)) return "unknown";
  return typeof error.kind === "string" && KIND_NAME.test(error.kind) ? error.kind : "unknown";
}

// Never print the constructor's name or the string tag: the value chooses those itself, and they may hold user data.
function nameObject(value: object): string {
  if (Array.isArray(value)) return "an array";
  if (ArrayBuffer.isView(value)) return "a view of another element type";
  return value instanceof ArrayBuffer ? "an ArrayBuffer" : "an object";
}

// Separate from the checks, so that those are small enough to be inlined, and make no closure for a message.
function refuse(value: unknown, what: string, expected: string): never {
  throw new InvariantViolation(`${what} must be ${expected}, got ${nameType(value)}`);
}

/** The whole numbers that a count, size or index may be, both ends included. */
export interface CountBounds {
  readonly min: number;
  readonly max: number;
}

// In all of these, `what` is the argument's name in the message. The message contains the type that was passed, and
// none of the content.

/** Asserts that a value is a whole number within bounds. */
export function assertCount(value: unknown, what: string, bounds: CountBounds): asserts value is number {
  if (Number.isInteger(value) && (value as number) >= bounds.min && (value as number) <= bounds.max) return;
  refuse(value, what, `a whole number from ${bounds.min} to ${bounds.max}`);
}

/** Asserts that a value is an object, so that reading its fields cannot fail. */
export function assertObject(value: unknown, what: string): asserts value is object {
  if (typeof value !== "object" || value === null) refuse(value, what, "an object");
}

// The getter reads the array's internal type, so it is right for arrays of another realm and for objects that only
// inherit from `Uint8Array.prototype`.
const { get: typedArrayName } = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
) as { get: (this: unknown) => string | undefined };

/** Whether a value is a `Uint8Array`, a Node `Buffer` included. */
export function isBytes(value: unknown): value is Uint8Array {
  return typedArrayName.call(value) === "Uint8Array";
}

/** Asserts that a value is a `Uint8Array`, a Node `Buffer` included. */
export function assertBytes(value: unknown, what: string): asserts value is Uint8Array {
  if (typedArrayName.call(value) !== "Uint8Array") refuse(value, what, "a Uint8Array");
}

/** Asserts that a value is iterable. */
export function assertIterable(value: unknown, what: string): asserts value is Iterable<unknown> {
  const isIterable = value !== undefined && value !== null && typeof Object(value)[Symbol.iterator] === "function";
  if (!isIterable) refuse(value, what, "iterable");
}
