// Readers for untrusted JSON. Every reader returns `undefined` for a value that does not fit.
import { decodeBase64Url } from "@gossip/stdx/internal";
import { MAX_ID_LENGTH, MAX_PREFIX_SIZE } from "../limits.ts";

/** An object to write as JSON, which leaves out fields that are `undefined`. */
export type JsonObject = Readonly<Record<string, unknown>>;

export type Reader<T> = (value: unknown) => T | undefined;

type Readers = Readonly<Record<string, Reader<unknown>>>;
type Read<R> = R extends Reader<infer T> ? T : never;

/** An object with these fields and no others. A field that `absent` names may be left out, and then has that value. */
export function object<const R extends Readers, const A extends { readonly [K in keyof R]?: unknown } = object>(
  fields: R,
  absent?: A,
): Reader<{ readonly [K in keyof R]: Read<R[K]> | (K extends keyof A ? A[K] : never) }> {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (!Object.keys(value).every((name) => Object.hasOwn(fields, name))) return undefined;
    const read: Record<string, unknown> = { ...absent };
    for (const [name, readField] of Object.entries(fields)) {
      const field = (value as JsonObject)[name];
      if (field === undefined && name in read) continue;
      read[name] = readField(field);
      if (read[name] === undefined) return undefined;
    }
    return read as never;
  };
}

/** A list, each item of which reads well. */
export function list<T>(read: Reader<T>): Reader<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const items = value.map(read);
    return items.includes(undefined) ? undefined : (items as T[]);
  };
}

/** One of these values. */
export function oneOf<const T extends string | boolean>(...values: readonly T[]): Reader<T> {
  return (value) => values.find((one) => one === value);
}

/** A whole number, `min` or more. */
export function count(min: number): Reader<number> {
  return (value) => (Number.isSafeInteger(value) && (value as number) >= min ? (value as number) : undefined);
}

export const id: Reader<string> = (value) =>
  typeof value === "string" && value.length <= MAX_ID_LENGTH ? value : undefined;

/** Longer text than this is a longer prefix than any, and not worth decoding. */
const MAX_PREFIX_TEXT = Math.ceil((MAX_PREFIX_SIZE * 4) / 3);

export const prefix: Reader<Uint8Array> = (value) =>
  typeof value === "string" && value.length <= MAX_PREFIX_TEXT ? decodeBase64Url(value) : undefined;

/** An object, read by the reader of its `kind`. */
export function parseKind<const R extends Readers>(readers: R, text: string): Read<R[keyof R]> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const kind = (value as { readonly kind?: unknown } | null)?.kind;
    const isKnown = typeof kind === "string" && Object.hasOwn(readers, kind);
    return isKnown ? (readers[kind]!(value) as Read<R[keyof R]> | undefined) : undefined;
  } catch {
    return undefined;
  }
}
