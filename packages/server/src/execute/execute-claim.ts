import { LogicalTime, type RunId, type TenantId, type WorkerId } from "@gossip/contracts";
import type { ClaimManyRequest, WorkerSession } from "@gossip/coordination";
import { coordError, type ClaimError } from "@gossip/coordination-errors";
import { WireReader, type ElementOf, type ElementResult } from "@gossip/protocol";
import { err, type Result } from "@gossip/stdx";
import { writeSession } from "./batch-executors.ts";
import { msUntil } from "./claim-waiters.ts";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";

/** The shortest wait before a free shard is looked for again, so that an outdated deadline makes no busy loop. */
const MIN_WAIT_MS = 5;
/** How long to wait before a claim of a paused run is tried again. */
const PAUSED_MS = 1000;

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
  const { service, coordinator, gone } = context;
  const endMs = service.nowMs() + waitMs;
  for (;;) {
    if (await service.pausedRuns.has(request)) {
      const now = await service.clock.now();
      const isOver = !(await service.waiters.wait(request, { ms: endMs - service.nowMs(), freeInMs: PAUSED_MS, gone }));
      const retryAfter = LogicalTime.saturatingAdd(now, BigInt(PAUSED_MS));
      if (isOver || service.isDraining) return err(coordError("Throttled", { retryAfter }));
      continue;
    }
    const claimed = await context.owning(request, () => coordinator.claimMany(request));
    if (isFailure(claimed)) return claimed;
    if (claimed.ok) {
      // There may be more where this came from.
      service.waiters.wakeOne(request);
      return claimed;
    }
    const { error } = claimed;
    // Without a deadline nothing is held and nothing is left: there is nothing to wait for.
    if (error.kind !== "NoneAvailable" || error.earliestDeadline === undefined || service.isDraining) return claimed;
    const now = await service.clock.now();
    const freeInMs = Math.max(MIN_WAIT_MS, msUntil(error.earliestDeadline, now) ?? 0);
    if (!(await service.waiters.wait(request, { ms: endMs - service.nowMs(), freeInMs, gone }))) return claimed;
  }
}
