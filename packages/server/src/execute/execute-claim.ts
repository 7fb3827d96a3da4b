import { LogicalTime, type RunId, type TenantId, type WorkerId } from "@gossip/contracts";
import type { ClaimManyRequest, WorkerSession } from "@gossip/coordination";
import { coordError, type ClaimError } from "@gossip/coordination-errors";
import { protocolError, WireReader, type ElementOf, type ElementResult } from "@gossip/protocol";
import { err, type Result } from "@gossip/stdx";
import { writeSession } from "./batch-executors.ts";
import { msUntil } from "./claim-waiters.ts";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";

/** The shortest wait before a free shard is looked for again, so that an outdated deadline makes no busy loop. */
const MIN_WAIT_MS = 5;
/** How long to wait before a claim of a paused run is tried again. */
const PAUSED_MS = 1000;
/** How long a client should wait for the clock. */
const NO_CLOCK_MS = 1000;

/** Execute a claim. If nothing can be claimed, wait up to `waitMs` for a shard. */
export async function executeClaim(
  context: ElementContext,
  element: ElementOf<"claim">,
  waitMs: number,
): Promise<ElementResult<"claim">> {
  const tenant = context.resolveTenant(element.tenant);
  if (isFailure(tenant)) return tenant;
  const request = toRequest(tenant, element);
  const { service } = context;
  const claimed = await service.recentClaims.join(request, (isRepeat) =>
    claimWithin(context, isRepeat ? { ...request, isRepeat } : request, waitMs),
  );
  if (isFailure(claimed)) return claimed;
  if (!claimed.ok) return context.fail(claimed.error);
  const { run } = request;
  return {
    ok: {
      sessions: claimed.value.map((session) => writeSession(session, context.coordinator)),
      ...context.signals(tenant, run, claimed.value[0]?.capacity),
    },
  };
}

function toRequest(tenant: TenantId, element: ElementOf<"claim">) {
  const read = new WireReader();
  const { count = 1, markStarved = false, isRepeat = false } = element;
  return {
    tenant,
    run: read.id<RunId>(element.run),
    worker: read.id<WorkerId>(element.worker),
    opId: read.opId(element.opId),
    count,
    markStarved,
    isRepeat,
  };
}

/** A claim that waits is not admitted meanwhile, so that it cannot hold up a move of its scope. */
async function claimWithin(
  context: ElementContext,
  request: ClaimManyRequest,
  waitMs: number,
): Promise<Result<readonly WorkerSession[], ClaimError> | Failure> {
  const { service, gone } = context;
  if (waitMs === 0) {
    const { claimed } = await tryClaim(context, request);
    if (!isFailure(claimed) && claimed.ok) service.waiters.wakeOne(request);
    return claimed;
  }
  const endMs = service.nowMs() + waitMs;
  const leave = service.waiters.enter(request);
  try {
    for (;;) {
      const { claimed, freeInMs } = await tryClaim(context, request);
      if (freeInMs === undefined || service.isDraining) {
        // There may be more where this came from, or nothing, which others that wait should learn too.
        service.waiters.wakeOne(request);
        return claimed;
      }
      if (!(await service.waiters.wait(request, { ms: endMs - service.nowMs(), freeInMs, gone }))) return claimed;
    }
  } finally {
    leave();
  }
}

interface Tried {
  readonly claimed: Result<readonly WorkerSession[], ClaimError> | Failure;
  /** When a shard may be free. `undefined` if the claim has its final answer. */
  readonly freeInMs?: number;
}

async function tryClaim(context: ElementContext, request: ClaimManyRequest): Promise<Tried> {
  const { service, coordinator } = context;
  const claimed = await context.owning(request, async () =>
    (await service.pausedRuns.has(request)) ? PAUSED : coordinator.claimMany(request),
  );
  // Without a deadline nothing is held and nothing is left: there is nothing to wait for.
  const deadline = claimed === PAUSED ? undefined : deadlineOf(claimed);
  if (claimed !== PAUSED && deadline === undefined) return { claimed };
  const now = await context.now();
  if (now === undefined) return { claimed: noClock(context) };
  if (claimed !== PAUSED) return { claimed, freeInMs: Math.max(MIN_WAIT_MS, msUntil(deadline, now) ?? 0) };
  const retryAfter = LogicalTime.saturatingAdd(now, BigInt(PAUSED_MS));
  return { claimed: err(coordError("Throttled", { retryAfter })), freeInMs: PAUSED_MS };
}

/** When the first of the leases ends that keep a claim from getting a shard. */
function deadlineOf(claimed: Tried["claimed"]): LogicalTime | undefined {
  if (isFailure(claimed) || claimed.ok || claimed.error.kind !== "NoneAvailable") return undefined;
  return claimed.error.earliestDeadline;
}

const PAUSED = "Paused";

function noClock(context: ElementContext): Failure {
  return context.refuse(protocolError("NoClock", "this node cannot get the time", { retryAfterMs: NO_CLOCK_MS }));
}
