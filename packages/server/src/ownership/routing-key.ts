import type { RunId, TenantId } from "@gossip/contracts";
import { writeId } from "@gossip/protocol";

/** The start of the routing keys of all runs of a tenant. */
export function tenantRoutingPrefix(tenant: TenantId): string {
  return `t/${tenant}/r/`;
}

/** The key that decides which node owns a run. It is text, so that an operator can write prefixes of it by hand. */
export function routingKey(tenant: TenantId, run: RunId): string {
  return `${tenantRoutingPrefix(tenant)}${writeId(run)}`;
}

const SHAPE = `t/${"h".repeat(64)}/r/${"h".repeat(16)}`;

/** Whether a routing key can begin with this prefix. A scope with another prefix would never own anything. */
export function isRoutingPrefix(prefix: string): boolean {
  if (prefix.length > SHAPE.length) return false;
  for (let index = 0; index < prefix.length; index++) {
    const isRight = SHAPE[index] === "h" ? /[0-9a-f]/.test(prefix[index]!) : prefix[index] === SHAPE[index];
    if (!isRight) return false;
  }
  return true;
}
