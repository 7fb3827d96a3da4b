import { TenantId } from "@gossip/contracts";
import { ROLES, type Role } from "@gossip/protocol";
import { createHash, timingSafeEqual } from "node:crypto";

/** A token as it is stored: its hash, never the token itself. */
export interface TokenRecord {
  /** Part of the token. Names it in lists and in the audit log. */
  readonly id: string;
  /** What the operator calls it. */
  readonly name: string;
  /** SHA-256 of the whole token, in hex. A token has 256 random bits, so a slow hash adds nothing. */
  readonly hash: string;
  readonly role: Role;
  /** The tenants that it may use; `"*"` for all. */
  readonly tenants: readonly TenantId[] | "*";
  readonly createdAtMs: number;
  readonly expiresAtMs?: number | undefined;
  readonly revokedAtMs?: number | undefined;
}

/** What secret scanners recognize. */
export const TOKEN_PREFIX = "gsp_";
const SECRET_SIZE = 32;
const ID_SIZE = 4;
const FORM = /^gsp_([0-9a-f]{8})_[A-Za-z0-9_-]{43}$/;

/** Make a token. The text is shown once; only the record is kept. */
export function makeToken(
  input: Pick<TokenRecord, "name" | "role" | "tenants" | "createdAtMs" | "expiresAtMs">,
  random: (size: number) => Buffer,
): { readonly token: string; readonly record: TokenRecord } {
  const id = random(ID_SIZE).toString("hex");
  const token = `${TOKEN_PREFIX}${id}_${random(SECRET_SIZE).toString("base64url")}`;
  return { token, record: { id, ...input, hash: hashOf(token).toString("hex") } };
}

/** The id in a token. `undefined` if the text has not the form of one. */
export function tokenIdOf(token: string): string | undefined {
  return FORM.exec(token)?.[1];
}

/** Whether `token` is the one of `record`. Takes the same time whether it is or not. */
export function isTokenOf(token: string, record: TokenRecord | undefined): boolean {
  const expected = record === undefined ? NO_HASH : Buffer.from(record.hash, "hex");
  const isEqual = timingSafeEqual(hashOf(token), expected);
  return isEqual && record !== undefined;
}

/** Whether a token can still be used. */
export function isTokenLive({ expiresAtMs, revokedAtMs }: TokenRecord, nowMs: number): boolean {
  return revokedAtMs === undefined && (expiresAtMs === undefined || nowMs < expiresAtMs);
}

/** Whether parsed JSON is a stored token. */
export function isTokenRecord(json: unknown): json is TokenRecord {
  if (typeof json !== "object" || json === null) return false;
  const { id, name, hash, role, tenants, createdAtMs, expiresAtMs, revokedAtMs } = json as Record<string, unknown>;
  return (
    typeof id === "string" &&
    /^[0-9a-f]{8}$/.test(id) &&
    typeof name === "string" &&
    typeof hash === "string" &&
    /^[0-9a-f]{64}$/.test(hash) &&
    (ROLES as readonly unknown[]).includes(role) &&
    (tenants === "*" || (Array.isArray(tenants) && tenants.every((tenant) => TenantId.parse(tenant as string).ok))) &&
    Number.isFinite(createdAtMs) &&
    (expiresAtMs === undefined || Number.isFinite(expiresAtMs)) &&
    (revokedAtMs === undefined || Number.isFinite(revokedAtMs))
  );
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

const NO_HASH = Buffer.alloc(32);
