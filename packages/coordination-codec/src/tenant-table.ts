import { TENANT_ID_SIZE, TenantId } from "@gossip/contracts";

interface KnownTenant {
  readonly id: TenantId;
  readonly bytes: Uint8Array;
}

/**
 * Tenant ids met of late, as text and as bytes.
 *
 * Turning one into the other takes as long as all the rest of a record, and a
 * process meets few tenants. The ids that it gives out are also the same string, so
 * that ten thousand records of one tenant hold it once.
 *
 * It has a place for each first byte and keeps the last tenant that came there.
 */
export class TenantTable {
  readonly #known: (KnownTenant | undefined)[] = Array.from({ length: 256 });

  /** Borrowed: do not write to it. What is no tenant id is an `InvariantViolation`. */
  bytesOf(id: TenantId): Uint8Array {
    const known = typeof id === "string" ? this.#known[firstByteOf(id)] : undefined;
    return known !== undefined && known.id === id ? known.bytes : this.#learn(id, TenantId.toBytes(id)).bytes;
  }

  /** The tenant whose 32 bytes begin at `offset`. */
  idAt(bytes: Uint8Array, offset: number): TenantId {
    const known = this.#known[bytes[offset]!];
    if (known !== undefined && isAt(known.bytes, bytes, offset)) return known.id;
    const own = bytes.slice(offset, offset + TENANT_ID_SIZE);
    return this.#learn(TenantId.fromBytes(own), own).id;
  }

  #learn(id: TenantId, bytes: Uint8Array): KnownTenant {
    const known = { id, bytes };
    this.#known[bytes[0]!] = known;
    return known;
  }
}

/** Right for a tenant id, and some byte for any other text, which is then found to be another. */
function firstByteOf(text: string): number {
  return (16 * digitAt(text, 0) + digitAt(text, 1)) & 0xff;
}

function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code <= 0x39 ? code - 0x30 : code - 0x61 + 10;
}

function isAt(tenant: Uint8Array, bytes: Uint8Array, offset: number): boolean {
  for (let index = 0; index < TENANT_ID_SIZE; index++) {
    if (tenant[index] !== bytes[offset + index]) return false;
  }
  return true;
}

/** Shared by all that reads and writes: what one has met, the other need not learn. */
export const TENANTS: TenantTable = /* @__PURE__ */ new TenantTable();
