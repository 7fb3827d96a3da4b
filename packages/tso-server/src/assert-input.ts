import { InvariantViolation } from "@gossip/stdx";
import { nameType } from "@gossip/stdx/internal";

/** Throw unless `value` is an object whose fields can be read. */
export function assertObject(value: unknown, noun: string): asserts value is object {
  if (typeof value !== "object" || value === null) refuse(value, `${noun} is an object`);
}

/** Throw unless `value` is an array. */
export function assertArray(value: unknown, noun: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) refuse(value, `${noun} is an array`);
}

/** Throw unless `value` is an object with these methods. */
export function assertMethods(value: unknown, noun: string, methods: readonly string[]): void {
  assertObject(value, noun);
  const missing = methods.find((name) => typeof (value as Readonly<Record<string, unknown>>)[name] !== "function");
  if (missing !== undefined) throw new InvariantViolation(`${noun} has a method ${missing}`);
}

function refuse(value: unknown, rule: string): never {
  throw new InvariantViolation(`${rule}, got ${nameType(value)}`);
}
