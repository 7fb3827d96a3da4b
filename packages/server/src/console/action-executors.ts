import { ShardKey, WorkerId, type OpId } from "@gossip/contracts";
import type { Lease, RunRequest, ShardRecord } from "@gossip/coordination";
import type { AcquireError } from "@gossip/coordination-errors";
import { planHintedSplitReplace } from "@gossip/frontier";
import { parseKeyText } from "@gossip/insight";
import { protocolError, WireReader, writeId } from "@gossip/protocol";
import { compareBytes, type Result } from "@gossip/stdx";
import { keyOf, runOf, type Execute } from "../execute/call.ts";
import { isFailure, type ElementContext, type Failure } from "../execute/element-context.ts";
import { listLeaves } from "./list-leaves.ts";
import { bytesAt } from "./run-executors.ts";
import { consoleOf, isOver, nowOf, readShards, shownRunOf, type ShownRun } from "./shown-run.ts";

type ActionName = "parkShard" | "cutShard" | "retryFailures" | "deleteNamedRun";

const DETAIL = { attempts: 0, error: "parked by an operator", workerName: "console" } as const;

/** What an operator may do in a page. Each can be repeated with the same op id, and gives the same answer. */
export const ACTION_EXECUTORS: { readonly [Name in ActionName]: Execute<Name> } = {
  async parkShard(context, { params, body }) {
    const shown = await shownRunOf(context, params, body.tenant);
    if (isFailure(shown)) return shown;
    const key = keyOf(context, params, body.tenant);
    if (isFailure(key)) return key;
    const opId = new WireReader().opId(body.opId);
    const found = await context.coordinator.getShard(key);
    if (!found.ok) return context.fail(found.error);
    if (found.value !== undefined && hasDone(found.value, opId, "Park")) return { ok: { outcome: "Replayed" } };
    const taken = await take(context, { ...shown.request, shard: key.key.shard }, opId);
    if (!taken.ok) return context.fail(taken.error);
    const { lease } = taken.value;
    const { tenant } = key;
    const parked = await context.coordinator.park({ tenant, lease, opId, reason: "Other", detail: DETAIL });
    if (!parked.ok) {
      await giveBack(context, lease, opId);
      return context.fail(parked.error);
    }
    await shown.view.refresh();
    return { ok: { outcome: parked.value.kind } };
  },

  async cutShard(context, { params, body }) {
    const shown = await shownRunOf(context, params, body.tenant);
    if (isFailure(shown)) return shown;
    const point = pointOf(context, shown, body);
    if (isFailure(point)) return point;
    const opId = new WireReader().opId(body.opId);
    const leaf = await leafAt(context, shown, point);
    if (leaf === undefined) return context.refuse(protocolError("BadRequest", NO_LEAF, { field: "position" }));
    const done = await cutBefore(context, shown.request, leaf, opId);
    if (done !== undefined)
      return { ok: { outcome: "Replayed", shard: writeId(done.shard), children: done.spawned.map(writeId) } };
    return cut(context, shown, { leaf, point, opId });
  },

  async retryFailures(context, { params, body }) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    const request = runOf(context, params, body.tenant);
    if (isFailure(request)) return request;
    const record = await context.coordinator.getRun(request);
    if (!record.ok) return context.fail(record.error);
    if (!isOver(record.value)) return context.refuse(protocolError("BadRequest", NOT_ENDED));
    const { retry, retryCommand } = service.options;
    const command = retryCommand?.(request) ?? `gossip retry ${writeId(request.run)}`;
    if (service.remembers(request, body.opId)) return { ok: { isStarted: true, command } };
    const isStarted = retry?.(request) ?? false;
    if (isStarted) {
      service.remember(request, body.opId);
      service.events.add(request, { kind: "FailuresRetried", atMs: Number(await nowOf(context)) });
    }
    return { ok: { isStarted, command } };
  },

  async deleteNamedRun(context, { params, body }) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    const request = runOf(context, params, body.tenant);
    if (isFailure(request)) return request;
    const record = await context.coordinator.getRun(request);
    if (!record.ok) {
      const isRepeat = record.error.kind === "RunNotFound" && service.remembers(request, body.opId);
      return isRepeat ? { ok: {} } : context.fail(record.error);
    }
    const name = (await service.labelOf(record.value)).name ?? writeId(request.run);
    if (body.name !== name && body.name !== writeId(request.run))
      return context.refuse(protocolError("BadRequest", WRONG_NAME, { field: "name" }));
    const view = service.views.of(record.value);
    const deleted = await context.coordinator.deleteRun(request);
    if (!deleted.ok) return context.fail(deleted.error);
    service.remember(request, body.opId);
    await view.refresh();
    return { ok: {} };
  },
};

const NO_LEAF = "no shard covers this key, or it is done";
const NOT_ENDED = "only what failed in a run that has ended can be retried";
const WRONG_NAME = "name must be the run's name, or its id if it has none";
const NO_CUT = "the shard cannot be cut there: the key must lie inside its range and above what is done";

function hasDone({ opLog }: ShardRecord, opId: OpId, kind: string): boolean {
  return opLog.some((op) => op.opId === opId && op.kind === kind);
}

/** Acquire a shard as a worker does: some operations are for the lease holder only. Can be repeated. */
async function take(
  { coordinator }: ElementContext,
  { tenant, run, shard }: RunRequest & { readonly shard: ShardKey["shard"] },
  opId: OpId,
): Promise<
  Result<
    { readonly lease: Lease; readonly cursor: ShardRecord["cursor"]; readonly spec: ShardRecord["spec"] },
    AcquireError
  >
> {
  const worker = WorkerId.fromRaw(opId);
  const acquired = await coordinator.acquire({ tenant, key: ShardKey.of(run, shard), worker, opId });
  if (!acquired.ok) return acquired;
  const { lease, snapshot } = acquired.value.value;
  return { ok: true, value: { lease, cursor: snapshot.cursor, spec: snapshot.spec } };
}

/** The lease was for one operation only. If it cannot be given back it runs out. */
async function giveBack({ coordinator }: ElementContext, lease: Lease, opId: OpId): Promise<void> {
  void (await coordinator.release({ tenant: lease.tenant, lease, opId }));
}

function pointOf(
  context: ElementContext,
  { view }: ShownRun,
  { position, key }: { readonly position?: number; readonly key?: string },
): Uint8Array | Failure {
  if ((position === undefined) === (key === undefined))
    return context.badField({ field: "position", expected: "a number, unless key is sent" });
  if (position !== undefined) return bytesAt(view, position);
  const parsed = parseKeyText(key!);
  return parsed.ok ? parsed.value : context.refuse(protocolError("BadRequest", parsed.error, { field: "key" }));
}

/** The shard without children that a key belongs to, unless it is done. */
async function leafAt(
  context: ElementContext,
  { view }: ShownRun,
  point: Uint8Array,
): Promise<ShardRecord | undefined> {
  const at = view.axis?.position(point) ?? 0;
  const leaves = await listLeaves(context, view, {
    from: Math.max(0, at - 1e-9),
    to: Math.min(1, at + 1e-9),
    max: 1000,
  });
  return leaves?.find(
    ({ status, spec: { keyRangeStart: start, keyRangeEnd: end } }) =>
      status !== "Done" && compareBytes(start, point) <= 0 && (end.length === 0 || compareBytes(point, end) < 0),
  );
}

/** The parent of a shard, if this operation has split it already. */
async function cutBefore(context: ElementContext, request: RunRequest, leaf: ShardRecord, opId: OpId) {
  if (leaf.parent === undefined) return undefined;
  const [parent] = await readShards(context, request, [leaf.parent]);
  return parent !== undefined && hasDone(parent, opId, "SplitReplace") ? parent : undefined;
}

async function cut(
  context: ElementContext,
  { view, request }: ShownRun,
  { leaf, point, opId }: { readonly leaf: ShardRecord; readonly point: Uint8Array; readonly opId: OpId },
) {
  const { shard } = leaf;
  const taken = await take(context, { ...request, shard }, opId);
  if (!taken.ok) return context.fail(taken.error);
  const { lease, spec, cursor } = taken.value;
  const plan = planHintedSplitReplace(spec, cursor, [point]);
  if (!plan.ok) {
    await giveBack(context, lease, opId);
    return context.refuse(protocolError("BadRequest", NO_CUT, { field: "position" }));
  }
  const split = await context.coordinator.splitReplace({ tenant: request.tenant, lease, opId, plan: plan.value });
  if (!split.ok) {
    await giveBack(context, lease, opId);
    return context.fail(split.error);
  }
  await view.refresh();
  const { kind, value } = split.value;
  return { ok: { outcome: kind, shard: writeId(shard), children: value.children.map(writeId) } };
}
