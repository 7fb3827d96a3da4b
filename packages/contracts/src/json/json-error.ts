import { toJsonSafe } from "./json-safe.ts";

/**
 * Make an error value that `JSON.stringify` can write although it carries ids.
 *
 * A bigint in a plain object makes `JSON.stringify` throw, and it would do so in
 * a logger, while another failure is being reported. `toJSON` is inherited, so the
 * value's own fields are exactly those of `fields`; `structuredClone` keeps them.
 */
export function jsonError<const E extends { readonly kind: string }>(fields: E): E {
  return Object.assign(Object.create(JSON_SAFE) as object, fields);
}

const JSON_SAFE: object = /* @__PURE__ */ Object.freeze({
  toJSON(this: object): unknown {
    return toJsonSafe({ ...this });
  },
});
