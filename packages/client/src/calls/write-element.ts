import type { CheckpointRequest, Lease } from "@gossip/coordination";
import { writeCursor, writeId, writeLease, type ElementOf } from "@gossip/protocol";

/** The lease under the tenant that the caller names. */
export function present(tenant: string, lease: Lease) {
  const wire = writeLease(lease);
  return tenant === lease.tenant ? wire : { ...wire, tenant };
}

/** A checkpoint in the long form, without its failures. */
export function checkpointElement(request: CheckpointRequest): ElementOf<"checkpoint"> {
  const { tenant, lease, opId, cursor, renew = false } = request;
  return { lease: present(tenant, lease), opId: writeId(opId), cursor: writeCursor(cursor), renew };
}
