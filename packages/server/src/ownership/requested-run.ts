import type { RunId, TenantId } from "@gossip/contracts";
import type { RunRequest } from "@gossip/coordination";
import type { Principal } from "../auth/principal.ts";

/** Where a request names its run: by a lease, or by a tenant and a run. */
export interface NamedRun {
  readonly lease?: { readonly tenant: string; readonly run: string };
  readonly tenant?: string | undefined;
  readonly run?: string | undefined;
}

const ID = /^[0-9a-f]{16}$/;

/**
 * The run that must be owned by this node to execute a request.
 *
 * `undefined` if the request is about no run, if it is malformed and refused later, and if the token may not use the
 * tenant. Such a request is answered the same at every node, so that it reveals nothing of the tenant.
 */
export function requestedRunOf(principal: Principal, { lease, ...named }: NamedRun): RunRequest | undefined {
  const tenant = (lease?.tenant ?? named.tenant ?? principal.onlyTenant) as TenantId | undefined;
  const run = lease?.run ?? named.run;
  if (tenant === undefined || run === undefined || !ID.test(run) || !principal.mayUse(tenant)) return undefined;
  return { tenant, run: BigInt(`0x${run}`) as RunId };
}
