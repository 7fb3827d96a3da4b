import { toJsonSafe } from "./json-safe.ts";

/**
 * Makes an error value with ids that `JSON.stringify` can write.
 *
 * A bigint in a plain object makes `JSON.stringify` throw, for example in a logger
 * that reports the error. `toJSON` is inherited, so the value's own fields are
 * exactly those of `fields`, and `structuredClone` keeps them.
 */
export function jsonError<const E extends { readonly kind: string }>(fields: E): E {
  return Object.assign(Object.create(JSON_SAFE) as object, fields);
}

const JSON_SAFE: object = /* @__PURE__ */ Object.freeze({
  toJSON(this: object): unknown {
    return toJsonSafe({ ...this });
  },
});
