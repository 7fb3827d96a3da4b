import { assert, isBytes } from "@gossip/stdx";
import { encodeBase64Url } from "@gossip/stdx/internal";
import { assertU64, formatU64 } from "../ids/u64.ts";

/** What `T` looks like in JSON: u64 as 16 hex digits, bytes as base64url, objects with `toJSON` as it returns them. */
export type JsonSafe<T> = T extends bigint | Uint8Array
  ? string
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(): infer J }
      ? J
      : T extends readonly (infer Item)[]
        ? readonly JsonSafe<Item>[]
        : T extends object
          ? { readonly [K in keyof T]: JsonSafe<T[K]> }
          : never;

/**
 * Converts a value of this project to one that JSON can represent.
 *
 * Accepts plain objects, arrays, strings, numbers, booleans, u64s and bytes, at any depth. Fields that are `undefined`
 * are left out. Redacted values stay redacted. Throws `InvariantViolation` for a number that JSON cannot write, a
 * function, a cycle or an instance of a class without `toJSON` (a `Map`, a borrowed view), which would be lost
 * silently.
 */
export function toJsonSafe<T>(value: T): JsonSafe<T> {
  return convert(value, []) as JsonSafe<T>;
}

function convert(value: unknown, above: readonly object[]): unknown {
  switch (typeof value) {
    case "bigint":
      assertU64(value, "bigint in JSON");
      return formatU64(value);
    case "number":
      assert(Number.isFinite(value), () => `number in JSON must be finite, got ${String(value)}`);
      return value;
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : convertObject(value, above);
    case "function":
    case "symbol":
      return assert(false, `a ${typeof value} has no form in JSON`);
  }
}

function convertObject(value: object, above: readonly object[]): unknown {
  if (isBytes(value)) return encodeBase64Url(value);
  assert(!above.includes(value), "a value that contains itself has no form in JSON");
  const path = [...above, value];
  if (hasToJson(value)) return convert(value.toJSON(), path);
  if (Array.isArray(value)) return value.map((item) => convert(item, path));
  assert(isPlain(value), "an instance of a class has no form in JSON unless it has a toJSON");

  const present = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(present.map(([name, field]) => [name, convert(field, path)]));
}

/** Whether an object is plain: its prototype is `null`, or the `Object.prototype` of any realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/**
 * Makes an error value with ids that `JSON.stringify` can write.
 *
 * A bigint in a plain object makes `JSON.stringify` throw, for example in a logger that reports the error. `toJSON` is
 * inherited, so the value's own fields are exactly those of `fields`, and `structuredClone` keeps them.
 */
export function jsonError<const E extends { readonly kind: string }>(fields: E): E {
  return Object.assign(Object.create(JSON_SAFE) as object, fields);
}

const JSON_SAFE: object = /* @__PURE__ */ Object.freeze({
  toJSON(this: object): unknown {
    return toJsonSafe({ ...this });
  },
});
