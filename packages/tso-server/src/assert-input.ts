import { InvariantViolation } from "@gossip/stdx";
import { assertObject, nameType } from "@gossip/stdx/internal";

/** Throws unless `value` is an array. */
export function assertArray(value: unknown, noun: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new InvariantViolation(`${noun} must be an array, got ${nameType(value)}`);
}

/** Throws unless `value` is an object with these methods. */
export function assertMethods(value: unknown, noun: string, methods: readonly string[]): void {
  assertObject(value, noun);
  const missing = methods.find((name) => typeof (value as Readonly<Record<string, unknown>>)[name] !== "function");
  if (missing !== undefined) throw new InvariantViolation(`${noun} must have a method ${missing}`);
}
