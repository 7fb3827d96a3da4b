import type { TenantId } from "@gossip/contracts";
import { roleIncludes, type Role } from "@gossip/protocol";

/** Who sends a request, and what it may do. */
export class Principal {
  /** The id of the token, for limits and the audit log. */
  readonly id: string;
  readonly role: Role;
  readonly #tenants: ReadonlySet<TenantId> | undefined;

  /** Without `tenants` it may use every tenant. */
  constructor(id: string, role: Role, tenants?: ReadonlySet<TenantId>) {
    this.id = id;
    this.role = role;
    this.#tenants = tenants;
  }

  may(role: Role): boolean {
    return roleIncludes(this.role, role);
  }

  mayUse(tenant: TenantId): boolean {
    return this.#tenants === undefined || this.#tenants.has(tenant);
  }

  /** The tenant of a token that is bound to exactly one. */
  get onlyTenant(): TenantId | undefined {
    if (this.#tenants?.size !== 1) return undefined;
    const [only] = this.#tenants;
    return only;
  }

  /** The tenants that it is bound to, in order. `undefined` if it may use every tenant. */
  get tenants(): readonly TenantId[] | undefined {
    return this.#tenants === undefined ? undefined : [...this.#tenants].sort();
  }
}

/** Used where no authentication is configured: the server then listens on loopback only. */
export const LOCAL_PRINCIPAL = new Principal("local", "admin");
