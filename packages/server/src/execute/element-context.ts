import type { LogicalTime, RunId, TenantId } from "@gossip/contracts";
import type { CapacityHint, Coordinator } from "@gossip/coordination";
import { waitUntil, type AnyCoordError } from "@gossip/coordination-errors";
import {
  protocolError,
  PROTOCOL_ERRORS,
  statusOf,
  writeCoordError,
  writeProtocolError,
  type ProtocolError,
  type SignalName,
  type WireFault,
} from "@gossip/protocol";
import type { Principal } from "../auth/principal.ts";
import type { Failure } from "./failure.ts";
import type { Service } from "./service.ts";

export { isFailure, type Failure } from "./failure.ts";

/** What executing one element or one call needs to know of its request. */
export class ElementContext {
  readonly service: Service;
  readonly principal: Principal;
  /** Fires when the client has gone. */
  readonly gone: AbortSignal;

  constructor(service: Service, principal: Principal, gone: AbortSignal) {
    this.service = service;
    this.principal = principal;
    this.gone = gone;
  }

  get coordinator(): Coordinator {
    return this.service.coordinator;
  }

  /**
   * The tenant to look under. A tenant that is not the token's is looked for under a name that no tenant has: the answer
   * and its cost are then those of something that does not exist.
   */
  tenantFor(wanted: TenantId): TenantId {
    return this.principal.mayUse(wanted) ? wanted : this.service.unknownTenant;
  }

  /** The tenant that a request names, or the only one of its token. */
  resolveTenant(wanted: string | undefined): TenantId | Failure {
    if (wanted !== undefined) return this.tenantFor(wanted as TenantId);
    return this.principal.onlyTenant ?? this.refuse(protocolError("BadRequest", MISSING_TENANT, { field: "tenant" }));
  }

  /**
   * Execute something for a run that this node owns. A move of its scope waits until `execute` is done.
   *
   * A tenant that the token may not use has no owner: the answer is the same at every node.
   */
  async owning<T>(
    { tenant, run }: { readonly tenant: TenantId; readonly run: RunId },
    execute: () => Promise<T>,
  ): Promise<T | Failure> {
    const { ownership, unknownTenant } = this.service;
    if (ownership === undefined || tenant === unknownTenant) return execute();
    const admitted = ownership.admit(tenant, run);
    if (!admitted.ok) return this.refuse(admitted.error);
    try {
      return await execute();
    } finally {
      admitted.value.release();
    }
  }

  refuse(error: ProtocolError): Failure {
    return { error: writeProtocolError(error), status: PROTOCOL_ERRORS[error.kind].status };
  }

  badField({ field, expected }: WireFault): Failure {
    return this.refuse(protocolError("BadRequest", `${field} must hold ${expected}`, { field }));
  }

  async fail(error: AnyCoordError): Promise<Failure> {
    const now = waitUntil(error) === undefined ? undefined : await this.now();
    return { error: writeCoordError(error, now), status: statusOf(error) };
  }

  /** The advice that rides on a response. */
  signals(tenant: TenantId, run: RunId, capacity?: CapacityHint): { readonly signals?: SignalName[] } {
    const isStarved = capacity?.isStarved === true && capacity.availableCount === 0;
    const { isDraining } = this.service;
    const isEnded = this.service.endedRuns.has(tenant, run);
    if (!isStarved && !isDraining && !isEnded) return NO_SIGNALS;
    const signals: SignalName[] = [];
    if (isStarved) signals.push("split-wanted");
    if (isDraining) signals.push("drain");
    if (isEnded) signals.push("run-ended");
    return { signals };
  }

  /** The time of the cluster's clock. `undefined` if it cannot be got. */
  async now(): Promise<LogicalTime | undefined> {
    try {
      return await this.service.clock.now();
    } catch {
      return undefined;
    }
  }
}

const MISSING_TENANT = "tenant must be sent: the token is not bound to exactly one";
const NO_SIGNALS = {};
