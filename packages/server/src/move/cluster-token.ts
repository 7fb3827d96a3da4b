import { createHash, timingSafeEqual } from "node:crypto";

/** What secret scanners recognize. Not the prefix of clients' tokens: neither is valid in place of the other. */
export const CLUSTER_TOKEN_PREFIX = "gspc_";
const SECRET_SIZE = 32;
const FORM = /^gspc_[A-Za-z0-9_-]{43,}$/;

/** Make a token for the calls between the nodes of a cluster. Every node gets the same one. */
export function makeClusterToken(random: (size: number) => Buffer): string {
  return `${CLUSTER_TOKEN_PREFIX}${random(SECRET_SIZE).toString("base64url")}`;
}

/**
 * The tokens of a file, one per line: a node sends the first and accepts each, so that a new one can be introduced while
 * nodes still send the old one. `undefined` if a line is not a token, or there is none.
 */
export function parseClusterTokens(text: string): readonly string[] | undefined {
  const lines = text.split("\n").flatMap((line) => line.trim() || []);
  return lines.length > 0 && lines.every((line) => FORM.test(line)) ? lines : undefined;
}

/** Whether an `authorization` header has one of the tokens. Takes the same time whether it has or not. */
export function hasClusterToken(header: string | undefined, tokens: readonly string[]): boolean {
  const given = hashOf((header ?? "").replace(/^Bearer /, ""));
  return tokens.map((token) => timingSafeEqual(given, hashOf(token))).includes(true);
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
