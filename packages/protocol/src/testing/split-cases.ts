import { demand, demandMatch } from "./expect-wire.ts";
import type { ProtocolCase } from "./protocol-case.ts";
import type { ServiceProbe } from "./service-probe.ts";

async function residual(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  await probe.done("checkpoint", { lease, opId: probe.id(), cursor: { key: "c" } });
  const element = { lease, opId: probe.id(), range: { start: "a", end: "m" }, residual: { start: "m", end: "z" } };
  const first = await probe.done("splitResidual", element);
  demandMatch(await probe.done("splitResidual", element), { outcome: "Replayed", residual: first.residual }, "again");
  const { session } = await probe.claim(run);
  demandMatch(session.lease.shard, first.residual, "the residual must be free to claim");
  demandMatch(session.shard, { range: element.residual, parent: lease.shard, cursor: {} }, "the residual");
  const behind = { ...element, opId: probe.id(), range: { start: "a", end: "b" }, residual: { start: "b", end: "m" } };
  await probe.failed("splitResidual", behind, { status: 422, kind: "SplitInvalid" });
  // The lease goes on for the part that is left.
  await probe.done("checkpoint", { lease, opId: probe.id(), cursor: { key: "d" } });
}

async function replaced(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  await probe.done("checkpoint", { lease, opId: probe.id(), cursor: { key: "c" } });
  const children = [{ range: { start: "a", end: "m" }, cursor: { key: "c" } }, { range: { start: "m", end: "z" } }];
  const gap = [children[0]!, { range: { start: "n", end: "z" } }];
  await probe.failed("splitReplace", { lease, opId: probe.id(), children: gap }, { status: 422, kind: "SplitInvalid" });
  const element = { lease, opId: probe.id(), children };
  const first = await probe.done("splitReplace", element);
  demand(new Set(first.children).size === 2, "a split must return the ids of its children");
  const again = await probe.done("splitReplace", { ...element, children: children.toReversed() });
  demandMatch(again.outcome, "Replayed", "the same children in another order");
  await probe.failed("renew", { lease }, { status: 409, kind: "ShardTerminal" });
  const { progress } = await probe.call("getProgress", `/v1/runs/${run}/progress?tenant=${probe.tenant}`);
  demandMatch(progress, { total: 3, split: 1, active: 2 }, "progress");
}

async function parked(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  const { tenant } = probe;
  const path = `/v1/runs/${run}/shards/${lease.shard}`;
  const detail = { key: "q", attempts: 3, error: "it broke" };
  await probe.done("park", { lease, opId: probe.id(), reason: "Poisoned", detail });
  const { shards } = await probe.call("listShards", `/v1/runs/${run}/shards?tenant=${tenant}&status=Parked`);
  demandMatch(shards, [{ shard: lease.shard, parkReason: "Poisoned", isLeased: false }], "parked shards");
  const listed = await probe.call("listParked", `/v1/runs/${run}/parked?tenant=${tenant}`);
  demandMatch(listed.parked, [{ ...detail, shard: lease.shard }], "details of parked shards");
  const body = { tenant, opId: probe.id() };
  demandMatch((await probe.call("unpark", `${path}/unpark`, { body })).outcome, "Executed", "unpark");
  demandMatch((await probe.call("unpark", `${path}/unpark`, { body })).outcome, "Replayed", "unpark again");
  const other = { body: { tenant, opId: probe.id() } };
  await probe.refused(`${path}/unpark`, other, { status: 409, kind: "NotParked" });
  await probe.claim(run);
}

/** Splits and parking. */
export const splitCases: readonly ProtocolCase[] = [
  { name: "the upper part of a range is given away", run: residual },
  { name: "a shard is replaced by children that tile it", run: replaced },
  { name: "a shard is parked and unparked", run: parked },
];
