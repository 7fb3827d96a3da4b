// Readers for untrusted JSON. Every function returns `undefined` for a value that does not fit.
import { decodeBase64Url } from "@gossip/stdx/internal";
import { MAX_ID_LENGTH, MAX_PREFIX_SIZE } from "../limits.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** An object with these fields and no others. */
export function readObject(value: unknown, fields: readonly string[]): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.keys(value).every((key) => fields.includes(key)) ? (value as JsonObject) : undefined;
}

/** A list, each item of which reads well. */
export function readList<T>(value: unknown, read: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: T[] = [];
  for (const item of value) {
    const one = read(item);
    if (one === undefined) return undefined;
    items.push(one);
  }
  return items;
}

export function readId(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= MAX_ID_LENGTH ? value : undefined;
}

export function readCount(value: unknown, min: number): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= min ? (value as number) : undefined;
}

/** Longer text than this is a longer prefix than any, and not worth decoding. */
const MAX_PREFIX_TEXT = Math.ceil((MAX_PREFIX_SIZE * 4) / 3);

export function readPrefix(value: unknown): Uint8Array | undefined {
  return typeof value === "string" && value.length <= MAX_PREFIX_TEXT ? decodeBase64Url(value) : undefined;
}
