import { demand, demandMatch } from "./expect-wire.ts";
import type { ProtocolCase } from "./protocol-case.ts";
import type { ServiceProbe } from "./service-probe.ts";

/** Long enough for any server. A server that answers at the right time never takes this long. */
const LONG_WAIT_MS = 20_000;

async function claimed(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun({ shards: 2 });
  const { tenant } = probe;
  const { element, session } = await probe.claim(run);
  demandMatch(session, { isReplay: false, attempts: 1, shard: { status: "Active", cursor: {} } }, "a claim");
  demandMatch(session.lease, { tenant, run, worker: element.worker }, "a lease");
  for (const repeated of [element, { ...element, isRepeat: true }]) {
    const again = await probe.done("claim", repeated);
    demandMatch(again.sessions, [{ isReplay: true, lease: session.lease }], "a repeated claim");
  }
  const many = await probe.done("claim", { ...element, opId: probe.id(), worker: probe.id(), count: 5 });
  demand(many.sessions.length === 1, "claims must share no shard, and take what is left");
  demand(many.sessions[0]!.lease.shard !== session.lease.shard, "a held shard must not be claimed");
  const shard = `/v1/runs/${run}/shards/${session.lease.shard}?tenant=${tenant}`;
  const { shard: record } = await probe.call("getShard", shard);
  demandMatch(record, { fence: session.lease.fence, holder: { worker: element.worker } }, "the record");
}

async function acquired(probe: ServiceProbe): Promise<void> {
  const { run, body } = await probe.makeRun();
  const { shard } = body.shards[0]!;
  const element = { tenant: probe.tenant, run, shard, worker: probe.id(), opId: probe.id() };
  const first = await probe.done("acquire", element);
  demandMatch(await probe.done("acquire", element), { isReplay: true, lease: first.lease }, "a repeated acquire");
  const other = { ...element, worker: probe.id(), opId: probe.id() };
  await probe.failed("acquire", other, { status: 409, kind: "AlreadyLeased", advice: "WaitUntil" });
  const unknown = { ...other, shard: "0000000000000fff" };
  await probe.failed("acquire", unknown, { status: 404, kind: "ShardNotFound" });
}

async function waited(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  const claim = { tenant: probe.tenant, run, worker: probe.id(), opId: probe.id() };
  const error = await probe.failed("claim", claim, { status: 409, kind: "NoneAvailable", advice: "WaitUntil" });
  demand((error.retryAfterMs ?? 0) > 0, "NoneAvailable must say how long to wait");
  const waiting = probe.element("claim", { ...claim, opId: probe.id() }, LONG_WAIT_MS);
  // The claim reaches the server while these are answered.
  const releasing = async () => {
    for (let asked = 0; asked < 5; asked++) await probe.call("getRun", `/v1/runs/${run}?tenant=${probe.tenant}`);
    return probe.done("release", { lease, opId: probe.id() });
  };
  const [answer, released] = await Promise.all([waiting, releasing()]);
  demandMatch(released.outcome, "Executed", "release");
  demandMatch(answer.ok?.sessions.length, 1, "a waiting claim must get a shard that is released");
}

async function lapsed(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun({ leaseMs: 30 });
  const { lease } = await probe.claim(run);
  const claim = { tenant: probe.tenant, run, worker: probe.id(), opId: probe.id() };
  // Waits until the first lease has run out.
  const { sessions } = await probe.done("claim", claim, LONG_WAIT_MS);
  demand(BigInt(sessions[0]!.lease.fence) > BigInt(lease.fence), "the fence must grow with every acquisition");
  const late = { lease, opId: probe.id(), cursor: { key: "b" } };
  await probe.failed("checkpoint", late, { status: 409, kind: "StaleFence", advice: "Reacquire" });
  await probe.failed("renew", { lease }, { status: 409, kind: "StaleFence", advice: "Reacquire" });
  await probe.failed("complete", { ...late, opId: probe.id() }, { status: 409, kind: "StaleFence" });
}

async function checkpointed(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  const element = { lease, opId: probe.id(), cursor: { key: "f", token: "t1" }, renew: true };
  const first = await probe.done("checkpoint", element);
  demandMatch(first.outcome, "Executed", "a checkpoint");
  demand(BigInt(first.deadline ?? 0) >= BigInt(lease.deadline), "a renewing checkpoint must return the deadline");
  demandMatch((await probe.done("checkpoint", element)).outcome, "Replayed", "the same checkpoint again");
  const changed = { ...element, cursor: { key: "g" } };
  await probe.failed("checkpoint", changed, { status: 409, kind: "OpIdConflict", advice: "FixCaller" });
  const back = { lease, opId: probe.id(), cursor: { key: "b" } };
  await probe.failed("checkpoint", back, { status: 422, kind: "CursorRegression", advice: "FixCaller" });
  const beyond = { lease, opId: probe.id(), cursor: { key: "zz" } };
  await probe.failed("checkpoint", beyond, { status: 422, kind: "CursorOutOfBounds" });
  await probe.failed(
    "checkpoint",
    { lease, opId: probe.id(), cursor: {} },
    { status: 422, kind: "CheckpointMissingKey" },
  );
  const { shard } = await probe.call("getShard", `/v1/runs/${run}/shards/${lease.shard}?tenant=${probe.tenant}`);
  demandMatch(shard, { cursor: { key: "f", token: "t1" } }, "the stored cursor");
  const renewed = await probe.done("renew", { lease });
  demand(BigInt(renewed.deadline) >= BigInt(lease.deadline), "a renewal must move the deadline forward");
}

async function checkpointedTogether(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun({ shards: 3 });
  const claim = { tenant: probe.tenant, run, worker: probe.id(), opId: probe.id(), count: 3 };
  const claimed = await probe.done("claim", claim);
  demandMatch(claimed.sessions.length, 3, "a claim of three");
  // By key, as they are listed.
  const sessions = claimed.sessions.toSorted((a, b) => (a.lease.shard < b.lease.shard ? -1 : 1));
  const columns = {
    shards: sessions.map(({ lease }) => lease.shard),
    fences: sessions.map(({ lease }) => lease.fence),
    opIds: sessions.map(() => probe.id()),
    cursors: sessions.map(({ shard }, index) =>
      index === 1 ? { key: shard.range.start!, token: "t" } : shard.range.start!,
    ),
  };
  const body = { tenant: probe.tenant, run, worker: claim.worker, renew: true, ...columns };
  const path = "/v1/checkpoint-many";
  const first = await probe.call("checkpointMany", path, { body });
  demandMatch(first.done?.outcome, "Executed", "checkpoints of many");
  demand(first.others === undefined || first.others.every(({ ok }) => ok?.outcome === "Executed"), "all are executed");
  demand(BigInt(first.done?.deadline ?? 0) > 0n, "checkpoints that renew must return the deadline");
  const stored = await probe.call("listShardRecords", `/v1/runs/${run}/records?tenant=${probe.tenant}`);
  const expected = columns.cursors.map((cursor) => ({
    cursor: typeof cursor === "string" ? { key: cursor } : cursor,
  }));
  demandMatch(stored.shards, expected, "the stored cursors");
  const again = await probe.call("checkpointMany", path, { body });
  demandMatch(
    again.others?.map(({ index, ok }) => [index, ok?.outcome]),
    [0, 1, 2].map((index) => [index, "Replayed"]),
    "the same checkpoints again",
  );
  const mixed = await probe.call("checkpointMany", path, {
    body: {
      ...body,
      fences: ["1", ...columns.fences.slice(1)],
      opIds: columns.opIds.map(() => probe.id()),
      cursors: [columns.cursors[0], "zz", { key: sessions[2]!.shard.range.start!, key64: "Zw" }],
    },
  });
  demandMatch(
    mixed.others?.map(({ index, status }) => [index, status]),
    [
      [0, 409],
      [1, 422],
      [2, 400],
    ],
    "their results",
  );
  demandMatch(mixed.others?.[0]?.error, { kind: "StaleFence", advice: "Reacquire" }, "one behind a fence");
  const uneven = { ...body, fences: columns.fences.slice(1) };
  const refused = await probe.refused(path, { body: uneven }, { status: 400, kind: "BadRequest" });
  demandMatch(refused, { field: "fences" }, "columns of different lengths");
  await probe.call("cancelRun", `/v1/runs/${run}/cancel`, { body: { tenant: probe.tenant, opId: probe.id() } });
  const last = await probe.call("checkpointMany", path, {
    body: { ...body, renew: false, opIds: columns.opIds.map(() => probe.id()) },
  });
  demand(last.done?.signals?.includes("run-ended") === true, "holders must learn that their run has ended");
}

async function batched(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun({ shards: 2 });
  const held = [await probe.claim(run), await probe.claim(run)];
  const [one, two] = held.map(({ lease }) => lease);
  const results = await probe.elements("renew", [
    { lease: { ...one!, fence: "1" } },
    { lease: two! },
    { lease: { ...one!, shard: "0000000000000fff" } },
    { lease: one! },
  ]);
  demandMatch(
    results.map(({ status = 200 }) => status),
    [409, 200, 404, 200],
    "each element must have its own result, in the order of the request",
  );
}

async function completed(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun({ shards: 2 });
  const [one, two] = [await probe.claim(run), await probe.claim(run)];
  const key = one.session.shard.range.start!;
  const element = { lease: one.lease, opId: probe.id(), cursor: { key } };
  demandMatch((await probe.done("complete", element)).outcome, "Executed", "complete");
  demandMatch((await probe.done("complete", element)).outcome, "Replayed", "complete again");
  const after = { lease: one.lease, opId: probe.id(), cursor: { key } };
  await probe.failed("checkpoint", after, { status: 409, kind: "ShardTerminal" });
  await probe.done("complete", { lease: two.lease, opId: probe.id(), isExhausted: true });
  const both = { lease: two.lease, opId: probe.id(), isExhausted: true as const, cursor: { key } };
  const [refused] = await probe.elements("complete", [both]);
  demandMatch(refused, { status: 400, error: { field: "cursor" } }, "complete with a cursor and isExhausted");
  const { progress } = await probe.call("getProgress", `/v1/runs/${run}/progress?tenant=${probe.tenant}`);
  demandMatch(progress, { total: 2, done: 2, active: 0 }, "progress");
}

async function binary(probe: ServiceProbe): Promise<void> {
  const run = probe.id();
  const [start, key] = ["_wA", "_wAB"];
  const shards = [{ shard: "0000000000000001", range: { start64: start, end64: "__8" } }];
  const body = { tenant: probe.tenant, run, opId: probe.id(), config: { leaseDuration: "60000" }, shards };
  await probe.call("createRun", "/v1/runs", { body });
  const { lease, session } = await probe.claim(run);
  demandMatch(session.shard.range, { start64: start }, "a bound that is no text");
  await probe.done("checkpoint", { lease, opId: probe.id(), cursor: { key64: key, token64: "AA" } });
  const { shard } = await probe.call("getShard", `/v1/runs/${run}/shards/${lease.shard}?tenant=${probe.tenant}`);
  demandMatch(shard?.cursor.key64, key, "a key that is no text");
  // "g", in both forms.
  const text = { lease, opId: probe.id(), cursor: { key: "g", key64: "Zw" } };
  const [twice] = await probe.elements("checkpoint", [text]);
  demandMatch(twice?.status, 400, "a cursor with key and key64");
  await probe.call("cancelRun", `/v1/runs/${run}/cancel`, { body: { tenant: probe.tenant, opId: probe.id() } });
  await probe.call("deleteRun", `/v1/runs/${run}?tenant=${probe.tenant}`, { method: "DELETE" });
}

async function signaled(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  const starving = { tenant: probe.tenant, run, worker: probe.id(), opId: probe.id(), markStarved: true };
  await probe.failed("claim", starving, { status: 409, kind: "NoneAvailable" });
  const renewed = await probe.done("renew", { lease });
  demandMatch(renewed, { capacity: { isStarved: true }, signals: ["split-wanted"] }, "a starved run");
  await probe.call("cancelRun", `/v1/runs/${run}/cancel`, { body: { tenant: probe.tenant, opId: probe.id() } });
  await probe.failed("renew", { lease }, { status: 409, kind: "RunTerminal", advice: "Stop" });
  // Finished work is never thrown away.
  const last = await probe.done("checkpoint", { lease, opId: probe.id(), cursor: { key: "c" } });
  demand(last.signals?.includes("run-ended") === true, "a holder must learn that its run has ended");
}

/** Leases: claiming, waiting, fences, checkpoints, batches. */
export const leaseCases: readonly ProtocolCase[] = [
  { name: "a claim grants a lease, and repeated the same lease", run: claimed },
  { name: "one particular shard is acquired", run: acquired },
  { name: "a claim waits for a shard that is released", run: waited },
  { name: "a lease that ran out is fenced off", run: lapsed },
  { name: "a checkpoint is executed once, and never goes back", run: checkpointed },
  { name: "checkpoints of many shards are executed once, each with its own result", run: checkpointedTogether },
  { name: "elements of a batch have results of their own", run: batched },
  { name: "a shard is completed once", run: completed },
  { name: "keys that are no text survive", run: binary },
  { name: "holders learn of starving workers and of the end of their run", run: signaled },
];
