import { assert, assertBytes, err, ok, type Brand, type Result } from "@gossip/stdx";
import { refuseIdText, type IdTextError } from "./u64.ts";
import { TENANT_ID_SIZE } from "../limits.ts";

const TENANT_TEXT_LENGTH = 2 * TENANT_ID_SIZE;
const TENANT_TEXT = /^[0-9a-f]{64}$/;
const ABBREVIATED_LENGTH = 8;

/**
 * Identifies a tenant: 32 bytes, held as 64 lowercase hex digits.
 *
 * As text it compares with `===`, can be the key of a `Map` and sorts like its bytes. Use `abbreviate` in anything that
 * people read.
 */
export type TenantId = Brand<string, "TenantId">;

/** Why bytes are not a tenant id. */
export interface TenantIdSizeError {
  readonly kind: "WrongSize";
  readonly size: number;
  readonly expected: number;
}

const HEX_DIGITS = "0123456789abcdef";

export const TenantId = {
  /** All bytes zero. */
  ZERO: /* @__PURE__ */ "0".repeat(TENANT_TEXT_LENGTH) as TenantId,

  /** Throws `InvariantViolation` unless there are 32 bytes. */
  fromBytes(bytes: Uint8Array): TenantId {
    const id = TenantId.tryFromBytes(bytes);
    assert(id.ok, () => `tenant id must be ${TENANT_ID_SIZE} bytes, got ${bytes.length}`);
    return id.value;
  },

  /** `fromBytes` for bytes that came from outside. */
  tryFromBytes(bytes: Uint8Array): Result<TenantId, TenantIdSizeError> {
    assertBytes(bytes, "tenant id");
    if (bytes.length !== TENANT_ID_SIZE) {
      return err({ kind: "WrongSize", size: bytes.length, expected: TENANT_ID_SIZE });
    }
    // One flat string of character codes: decoders call this for every record.
    const codes: number[] = [];
    for (const byte of bytes) codes.push(HEX_DIGITS.charCodeAt(byte >> 4), HEX_DIGITS.charCodeAt(byte & 15));
    return ok(String.fromCharCode(...codes) as TenantId);
  },

  toBytes(id: TenantId): Uint8Array {
    const bytes = new Uint8Array(TENANT_ID_SIZE);
    writeTenantId(id, bytes, 0);
    return bytes;
  },

  /** Read 64 lowercase hex digits, and nothing else. */
  parse(text: string): Result<TenantId, IdTextError> {
    return isTenantId(text) ? ok(text) : refuseIdText(text, TENANT_TEXT_LENGTH);
  },

  /** The first four bytes in hex and `..`: enough to tell two tenants apart in a log. */
  abbreviate(id: TenantId): string {
    assertTenantId(id);
    return `${id.slice(0, ABBREVIATED_LENGTH)}..`;
  },
} as const;

/** Writes the 32 bytes of a tenant's id at `at`, without allocating. Throws `InvariantViolation` if it is none. */
export function writeTenantId(id: TenantId, out: Uint8Array, at: number): void {
  if (typeof id !== "string" || id.length !== TENANT_TEXT_LENGTH) refuseTenantId();
  let seen = 0;
  for (let index = 0; index < TENANT_ID_SIZE; index++) {
    const byte = (digitAt(id, 2 * index) << 4) | digitAt(id, 2 * index + 1);
    seen |= byte;
    out[at + index] = byte;
  }
  if (seen < 0) refuseTenantId();
}

/** The value of a lowercase hex digit; negative for anything else. */
function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x61 + 10 : -1;
}

function isTenantId(id: unknown): id is TenantId {
  return typeof id === "string" && TENANT_TEXT.test(id);
}

function assertTenantId(id: unknown): asserts id is TenantId {
  if (!isTenantId(id)) refuseTenantId();
}

function refuseTenantId(): never {
  assert(false, "tenant id must be 64 lowercase hex digits");
}
