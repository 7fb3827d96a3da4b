import { createHash } from "node:crypto";
import { assert } from "@gossip/stdx";

/** Longest token, in bytes. */
export const MAX_TOKEN_SIZE = 512;

/** Shortest token: 16 characters of 64 kinds are 96 bits, too many to guess. */
const MIN_TOKEN_SIZE = 16;

const HASH = /^[0-9a-f]{64}$/u;
const TOKEN = /^[\x21-\x7e]*$/u;

/** The form in which a server stores a token: the SHA-256 of its text, as 64 hex digits. */
export function hashToken(token: string): string {
  assertToken(token);
  return createHash("sha256").update(token).digest("hex");
}

/** Whether text is 16 to 512 visible ASCII characters. */
export function isToken(token: unknown): token is string {
  return (
    typeof token === "string" && TOKEN.test(token) && token.length >= MIN_TOKEN_SIZE && token.length <= MAX_TOKEN_SIZE
  );
}

/** Whether text is what `hashToken` returns. */
export function isTokenHash(text: unknown): text is string {
  return typeof text === "string" && HASH.test(text);
}

/** Throws `InvariantViolation` unless `token` is 16 to 512 visible ASCII characters. The message does not repeat it. */
export function assertToken(token: string): void {
  assert(isToken(token), `a token is ${MIN_TOKEN_SIZE} to ${MAX_TOKEN_SIZE} visible ASCII characters`);
}
