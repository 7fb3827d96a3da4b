// What an example's process runs before the example. It is sent there as text, so it imports from Node alone.
import { writeSync } from "node:fs";
import { inspect, isDeepStrictEqual } from "node:util";

/** What the process says about itself, one JSON line each. */
export type HarnessEvent =
  | { readonly kind: "checked"; readonly line: number }
  | { readonly kind: "failed"; readonly line: number; readonly what: string };

export const REPORT_DESCRIPTOR = 3;

export function install(): void {
  let current = 0;
  const send = (event: HarnessEvent): void => void writeSync(REPORT_DESCRIPTOR, `${JSON.stringify(event)}\n`);
  const example = {
    at(line: number): void {
      current = line;
    },
    check(line: number, actual: unknown, expected: unknown): void {
      send({ kind: "checked", line });
      if (!isLike(actual, expected))
        send({
          kind: "failed",
          line,
          what: `is ${inspect(actual, { depth: 6, breakLength: Infinity })}, and the example says ${inspect(expected, { depth: 6, breakLength: Infinity })}`,
        });
    },
  };
  Object.defineProperty(globalThis, "__example", { value: example });
  process.on("uncaughtException", (error: unknown) => {
    send({
      kind: "failed",
      line: current,
      what: `throws ${error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)}`,
    });
    process.exit(1);
  });
}

/**
 * Deep equality as a reader takes it: a literal `{ a: 1 }` stands for any object that shows exactly those properties,
 * whatever its prototype. An object that shows none is like `{}` only if it is a plain one.
 */
export function isLike(actual: unknown, expected: unknown): boolean {
  if (Object.is(actual, expected)) return true;
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => index in actual && isLike(actual[index], item))
    );
  if (!isPlain(expected)) return isDeepStrictEqual(actual, expected);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) || ArrayBuffer.isView(actual))
    return false;
  const keys = Object.keys(expected);
  if (keys.length === 0 && !isPlain(actual)) return false;
  if (Object.keys(actual).length !== keys.length) return false;
  return keys.every(
    (key) => Object.hasOwn(actual, key) && isLike((actual as Record<string, unknown>)[key], expected[key]),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
