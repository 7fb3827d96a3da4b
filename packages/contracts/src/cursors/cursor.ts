import { assert, assertBytes, equalBytes, err, ok, type Brand, type Result } from "@gossip/stdx";
import { assertObject, encodeBase64Url } from "@gossip/stdx/internal";
import { invalidField, JsonReader, within, type InvalidField } from "../json/json-reader.ts";
import { MAX_KEY_SIZE, MAX_TOKEN_SIZE } from "../limits.ts";

/**
 * How far a shard has been worked through.
 *
 * `lastKey` is what the coordinator compares. If present, it is not empty. `token` belongs to the connector. It is
 * stored as it is, never compared and never logged. Without a key there is no token, and an empty token counts as none.
 *
 * A cursor owns its bytes: the constructors copy. Do not write to them.
 */
export type Cursor = Brand<CursorParts, "Cursor">;

interface CursorParts {
  readonly lastKey: Uint8Array | undefined;
  readonly token: Uint8Array | undefined;
}

/** What a cursor with a key is made of. */
export interface CursorInput {
  readonly lastKey: Uint8Array;
  readonly token?: Uint8Array | undefined;
}

/** Why a cursor was refused. Sizes only. */
export type CursorInputError =
  | { readonly kind: "EmptyLastKey" }
  | { readonly kind: "KeyTooLarge"; readonly size: number; readonly max: number }
  | { readonly kind: "TokenTooLarge"; readonly size: number; readonly max: number };

/** A cursor in JSON: bytes as base64url, absent fields left out. */
export interface CursorJson {
  readonly lastKey?: string;
  readonly token?: string;
}

const INITIAL = /* @__PURE__ */ makeCursor(undefined, undefined);

export const Cursor = {
  /** No progress yet. */
  initial(): Cursor {
    return INITIAL;
  },

  /** Throws `InvariantViolation` if the key is empty. Does not check sizes: the operation that stores the cursor does. */
  withLastKey(lastKey: Uint8Array): Cursor {
    return Cursor.fromParts({ lastKey });
  },

  /** As `withLastKey`, with a token. */
  fromParts(parts: CursorInput): Cursor {
    assertParts(parts);
    assert(parts.lastKey.length > 0, "cursor last key must not be empty; Cursor.initial() has none");
    return copyParts(parts);
  },

  /** `withLastKey` for a key that came from outside: `EmptyLastKey`, then `KeyTooLarge`. */
  tryWithLastKey(lastKey: Uint8Array): Result<Cursor, CursorInputError> {
    return Cursor.tryFromParts({ lastKey });
  },

  /** `fromParts` for bytes that came from outside: `EmptyLastKey`, then `KeyTooLarge`, then `TokenTooLarge`. */
  tryFromParts(parts: CursorInput): Result<Cursor, CursorInputError> {
    assertParts(parts);
    const keySize = parts.lastKey.length;
    const tokenSize = parts.token?.length ?? 0;
    if (keySize === 0) return err({ kind: "EmptyLastKey" });
    if (keySize > MAX_KEY_SIZE) return err({ kind: "KeyTooLarge", size: keySize, max: MAX_KEY_SIZE });
    if (tokenSize > MAX_TOKEN_SIZE) return err({ kind: "TokenTooLarge", size: tokenSize, max: MAX_TOKEN_SIZE });
    return ok(copyParts(parts));
  },

  /** Whether there is no progress yet. Ignores the token. */
  isInitial(cursor: Cursor): boolean {
    assertCursor(cursor);
    return cursor.lastKey === undefined;
  },

  /** Whether keys and tokens are the same. */
  equals(a: Cursor, b: Cursor): boolean {
    assertCursor(a);
    assertCursor(b);
    return equalOptional(a.lastKey, b.lastKey) && equalOptional(a.token, b.token);
  },

  toJson(cursor: Cursor): CursorJson {
    assertCursor(cursor);
    const { lastKey, token } = cursor;
    if (lastKey === undefined) return {};
    if (token === undefined) return { lastKey: encodeBase64Url(lastKey) };
    return { lastKey: encodeBase64Url(lastKey), token: encodeBase64Url(token) };
  },

  fromJson(json: unknown): Result<Cursor, InvalidField> {
    return readCursorJson(json, "");
  },
} as const;

const readParts: JsonReader<CursorParts> = /* @__PURE__ */ JsonReader.object({
  lastKey: JsonReader.optional(JsonReader.bytes),
  token: JsonReader.optional(JsonReader.bytes),
});

/** Like the constructors, it refuses an empty key and a token without a key, and does not check sizes. */
export const readCursorJson: JsonReader<Cursor> = (json, field) => {
  const parts = readParts(json, field);
  if (!parts.ok) return parts;
  const { lastKey, token } = parts.value;
  if (lastKey?.length === 0) return invalidField(within(field, "lastKey"), "a key that is not empty");
  if (lastKey === undefined && token !== undefined)
    return invalidField(within(field, "token"), "no token without a last key");
  return ok(lastKey === undefined ? INITIAL : copyParts({ lastKey, token }));
};

/**
 * Throw unless `cursor` has the shape of one.
 *
 * For callers without types: what it refuses would otherwise surface later as a `TypeError` about `length`.
 */
export function assertCursor(cursor: unknown): asserts cursor is Cursor {
  assertObject(cursor, "cursor");
  const { lastKey, token } = cursor as CursorParts;
  if (lastKey !== undefined) {
    assertBytes(lastKey, "cursor last key");
    assert(lastKey.length > 0, "cursor last key must not be empty; Cursor.initial() has none");
  }
  if (token === undefined) return;
  assertBytes(token, "cursor token");
  assert(lastKey !== undefined, "cursor must not have a token without a last key");
}

function assertParts(parts: CursorInput): void {
  assertObject(parts, "cursor parts");
  assertBytes(parts.lastKey, "cursor last key");
  if (parts.token !== undefined) assertBytes(parts.token, "cursor token");
}

function copyParts({ lastKey, token }: CursorInput): Cursor {
  // Not `slice`: that of a Buffer shares its memory.
  return makeCursor(new Uint8Array(lastKey), token?.length ? new Uint8Array(token) : undefined);
}

function makeCursor(lastKey: Uint8Array | undefined, token: Uint8Array | undefined): Cursor {
  const parts: CursorParts = { lastKey, token };
  return Object.freeze(parts) as Cursor;
}

function equalOptional(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equalBytes(a, b);
}
