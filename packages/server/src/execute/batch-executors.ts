import {
  MAX_KEY_SIZE,
  SplitReplacePlan,
  SplitResidualPlan,
  type RunId,
  type ShardId,
  type WorkerId,
} from "@gossip/contracts";
import {
  Lease,
  RANGE_EXHAUSTED,
  type CompletionPoint,
  type Coordinator,
  type WorkerSession,
} from "@gossip/coordination";
import {
  MAX_FAILURES,
  protocolError,
  readNewDetail,
  readNewFailure,
  WireReader,
  writeCapacity,
  writeId,
  writeLease,
  writeSnapshot,
  type BatchName,
  type ElementOf,
  type ElementResult,
  type LeaseWire,
  type ResponseOf,
  type SessionWire,
} from "@gossip/protocol";
import { compareBytes } from "@gossip/stdx";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";

/** Execute one element of a batched call. */
type Execute<Name extends BatchName> = (
  context: ElementContext,
  element: ElementOf<Name>,
) => Promise<ElementResult<Name>>;

/** How each batched operation but `claim`, which may wait, is executed. */
export const BATCH_EXECUTORS: { readonly [Name in Exclude<BatchName, "claim">]: Execute<Name> } = {
  async acquire(context, { tenant: wanted, run, shard, worker, opId }) {
    const tenant = context.resolveTenant(wanted);
    if (isFailure(tenant)) return tenant;
    const read = new WireReader();
    const key = { run: read.id<RunId>(run), shard: read.id<ShardId>(shard) };
    const opened = await context.coordinator.openSession({
      tenant,
      key,
      worker: read.id<WorkerId>(worker),
      opId: read.opId(opId),
    });
    if (!opened.ok) return context.fail(opened.error);
    return {
      ok: {
        ...writeSession(opened.value, context.coordinator),
        ...context.signals(tenant, key.run, opened.value.capacity),
      },
    };
  },

  async renew(context, { lease: wire }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    const checked = read.done(presented);
    if (!checked.ok) return context.badField(checked.error);
    const renewed = await context.coordinator.renew(presented);
    if (!renewed.ok) return context.fail(renewed.error);
    const { newDeadline, capacity } = renewed.value;
    return {
      ok: {
        deadline: newDeadline.toString(),
        capacity: writeCapacity(capacity),
        ...signalsOf(context, presented.lease, capacity),
      },
    };
  },

  // Not an async function: this is what the server does all day, and it would make a promise more.
  checkpoint(context, { lease: wire, opId, cursor: cursorWire, renew = false, failures: skipped }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    const cursor = read.cursor(cursorWire, "cursor");
    // A cursor that is too large is refused by its own error, which comes before those of its failures.
    const isTooLarge = (cursor.lastKey?.length ?? 0) > MAX_KEY_SIZE;
    const failures = isTooLarge ? undefined : readFailures(context, read, skipped, cursor.lastKey);
    const checked = read.done(presented);
    if (!checked.ok) return Promise.resolve(context.badField(checked.error));
    const { tenant, lease } = presented;
    return context.coordinator
      .checkpoint({ tenant, lease, opId: read.opId(opId), cursor, renew, failures })
      .then((stored): ElementResult<"checkpoint"> | Promise<Failure> => {
        if (!stored.ok) return context.fail(stored.error);
        const { kind, value } = stored.value;
        const { signals } = signalsOf(context, lease, value.capacity);
        const done: ResponseOf<"checkpoint"> = { outcome: kind, capacity: writeCapacity(value.capacity) };
        if (value.newDeadline !== undefined) done.deadline = value.newDeadline.toString();
        if (signals !== undefined) done.signals = signals;
        return { ok: done };
      });
  },

  async complete(context, { lease: wire, opId, cursor, isExhausted, failures: skipped }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    if ((cursor === undefined) === (isExhausted === undefined))
      read.fail("cursor", "a cursor, unless isExhausted is sent instead");
    const point: CompletionPoint = cursor === undefined ? RANGE_EXHAUSTED : read.cursor(cursor, "cursor");
    const isTooLarge = point !== RANGE_EXHAUSTED && (point.lastKey?.length ?? 0) > MAX_KEY_SIZE;
    const failures = isTooLarge ? undefined : readFailures(context, read, skipped);
    const checked = read.done(presented);
    if (!checked.ok) return context.badField(checked.error);
    const completed = await context.coordinator.complete({ ...presented, opId: read.opId(opId), point, failures });
    return completed.ok ? outcomeOf(context, presented.lease, completed.value) : context.fail(completed.error);
  },

  async park(context, { lease: wire, opId, reason, detail: wireDetail }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    const detail = wireDetail && readNewDetail(read, wireDetail, "detail");
    const checked = read.done(presented);
    if (!checked.ok) return context.badField(checked.error);
    const parked = await context.coordinator.park({ ...presented, opId: read.opId(opId), reason, detail });
    return parked.ok ? outcomeOf(context, presented.lease, parked.value) : context.fail(parked.error);
  },

  async release(context, { lease: wire, opId }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    const checked = read.done(presented);
    if (!checked.ok) return context.badField(checked.error);
    const released = await context.coordinator.release({ ...presented, opId: read.opId(opId) });
    return released.ok ? outcomeOf(context, presented.lease, released.value) : context.fail(released.error);
  },

  async splitReplace(context, { lease: wire, opId, children }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    const parts = children.map(({ range, cursor }, index) => ({
      spec: read.range(range, `children.${index}.range`),
      cursor: read.cursor(cursor, `children.${index}.cursor`),
    }));
    const checked = read.done(presented);
    if (!checked.ok) return context.badField(checked.error);
    const plan = SplitReplacePlan.tryNew(parts);
    if (!plan.ok) return context.badField({ field: "children", expected: "2 to 256 children" });
    const split = await context.coordinator.splitReplace({ ...presented, opId: read.opId(opId), plan: plan.value });
    if (!split.ok) return context.fail(split.error);
    const { kind, value } = split.value;
    return {
      ok: { outcome: kind, children: value.children.map(writeId), ...signalsOf(context, presented.lease) },
    };
  },

  async splitResidual(context, { lease: wire, opId, range, residual }) {
    const read = new WireReader();
    const presented = presentLease(context, read, wire);
    const specs = { parentNewSpec: read.range(range, "range"), residualSpec: read.range(residual, "residual") };
    const checked = read.done(presented);
    if (!checked.ok) return context.badField(checked.error);
    const plan = SplitResidualPlan.tryNew(specs);
    if (!plan.ok) return context.badField({ field: "residual", expected: "another range than `range`" });
    const split = await context.coordinator.splitResidual({ ...presented, opId: read.opId(opId), plan: plan.value });
    if (!split.ok) return context.fail(split.error);
    const { kind, value } = split.value;
    return { ok: { outcome: kind, residual: writeId(value.residual), ...signalsOf(context, presented.lease) } };
  },
};

/** The failures of a checkpoint. The coordinator takes a list that breaks its rules for a defect, so it is checked here. */
function readFailures(
  { coordinator }: ElementContext,
  read: WireReader,
  wire: ElementOf<"checkpoint">["failures"],
  upTo?: Uint8Array,
) {
  if (wire === undefined || wire.length === 0) return undefined;
  const max = coordinator.maxFailuresPerCheckpoint;
  if (wire.length > max) read.fail("failures", `up to ${max} failures`);
  const failures = wire.map((failure, index) => readNewFailure(read, failure, `failures.${index}`));
  failures.forEach(({ key }, index) => {
    if (upTo !== undefined && compareBytes(key, upTo) > 0) read.fail(`failures.${index}.key`, "a key up to the cursor");
  });
  return failures;
}

/** The lease of a request, under the tenant that its token may use. */
function presentLease(context: ElementContext, read: WireReader, wire: LeaseWire) {
  const lease = read.lease(wire);
  const tenant = context.tenantFor(lease.tenant);
  return { tenant, lease: tenant === lease.tenant ? lease : Lease.of({ ...lease, tenant }) };
}

function signalsOf(
  context: ElementContext,
  { tenant, run }: Lease,
  capacity?: Parameters<ElementContext["signals"]>[2],
) {
  return context.signals(tenant, run, capacity);
}

function outcomeOf(context: ElementContext, lease: Lease, { kind }: { readonly kind: "Executed" | "Replayed" }) {
  return { ok: { outcome: kind, ...signalsOf(context, lease) } };
}

/** A session of this process as a client gets it. */
export function writeSession(
  session: WorkerSession,
  { maxFailuresPerCheckpoint: maxFailures }: Pick<Coordinator, "maxFailuresPerCheckpoint">,
): SessionWire {
  return {
    lease: writeLease(session.lease),
    shard: writeSnapshot(session.initialSnapshot),
    capacity: writeCapacity(session.capacity),
    isReplay: session.isReplay,
    attempts: session.attempts,
    ...(maxFailures < MAX_FAILURES ? { maxFailures } : {}),
  };
}

/** A failure for an element that this server cannot execute because it has a defect. */
export function defectOf(context: ElementContext): Failure {
  return context.refuse(protocolError("InternalError", "the server could not execute this; its log has the reason"));
}
