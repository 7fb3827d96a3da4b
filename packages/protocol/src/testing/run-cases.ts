import { demand, demandMatch } from "./expect-wire.ts";
import type { ProtocolCase } from "./protocol-case.ts";
import type { ServiceProbe } from "./service-probe.ts";

const NOT_FOUND = { status: 404, kind: "RunNotFound" };
const EXISTS = { status: 409, kind: "RunAlreadyExists" };

async function created(probe: ServiceProbe): Promise<void> {
  const { run, body } = await probe.makeRun({ shards: 3 });
  const { tenant } = probe;
  const path = `/v1/runs/${run}`;
  const stored = await probe.call("getRun", `${path}?tenant=${tenant}&log=true`);
  demandMatch(
    stored.run,
    { tenant, run, status: "Active", rootShards: body.shards.map(({ shard }) => shard) },
    "the run",
  );
  demandMatch(stored.run.log?.length, 1, "the log of a new run");
  const again = await probe.call("createRun", "/v1/runs", { body });
  demandMatch(again.outcome, "Replayed", "the same op id again");
  await probe.refused("/v1/runs", { body: { tenant, run, config: body.config } }, EXISTS);
  const { progress } = await probe.call("getProgress", `${path}/progress?tenant=${tenant}`);
  demandMatch(progress, { total: 3, active: 3, done: 0, leased: 0 }, "progress");
  const { capacity } = await probe.call("getCapacity", `${path}/capacity?tenant=${tenant}`);
  demandMatch(capacity, { available: 3, isStarved: false }, "capacity");
}

async function inPages(probe: ServiceProbe): Promise<void> {
  const { tenant } = probe;
  const { body } = probe.newRun({ shards: 3 });
  const { run, config, shards } = body;
  await probe.call("createRun", "/v1/runs", { body: { tenant, run, config } });
  const path = `/v1/runs/${run}`;
  const page = (index: number, more: boolean) => ({
    body: { tenant, opId: String(index + 1).padStart(16, "0"), shards: [shards[index]!], ...(more ? { more } : {}) },
  });
  demandMatch((await probe.call("registerShards", `${path}/shards`, page(0, true))).outcome, "Executed", "a page");
  demandMatch((await probe.call("registerShards", `${path}/shards`, page(0, true))).outcome, "Replayed", "it again");
  const { progress } = await probe.call("getProgress", `${path}/progress?tenant=${tenant}`);
  demandMatch(progress.total, 0, "shards before the last page");
  await probe.call("registerShards", `${path}/shards`, page(1, true));
  const last = await probe.call("registerShards", `${path}/shards`, page(2, false));
  demandMatch(last.shards, [shards[2]!.shard], "the shards of the last page");
  const after = await probe.call("getProgress", `${path}/progress?tenant=${tenant}`);
  demandMatch(after.progress.total, 3, "shards after the last page");
}

async function listed(probe: ServiceProbe): Promise<void> {
  const made = [await probe.makeRun(), await probe.makeRun(), await probe.makeRun({ shards: 5 })];
  const { tenant } = probe;
  const seen: string[] = [];
  for (let after = ""; ;) {
    const page = await probe.call("listRuns", `/v1/runs?tenant=${tenant}&limit=2${after}`);
    demand(page.runs.length <= 2, "a page must not be larger than its limit");
    seen.push(...page.runs.map(({ run }) => run));
    if (page.next === undefined) break;
    after = `&after=${page.next}`;
  }
  demand(
    seen.every((run, index) => index === 0 || seen[index - 1]! < run),
    "runs must be listed by id, each once",
  );
  for (const { run } of made) demand(seen.includes(run), "every run must be listed");
  const path = `/v1/runs/${made[2]!.run}`;
  for (const list of ["shards", "records"] as const) {
    const starts: unknown[] = [];
    for (let after = ""; ;) {
      const name = list === "shards" ? "listShards" : "listShardRecords";
      const page = await probe.call(name, `${path}/${list}?tenant=${tenant}&limit=2${after}`);
      starts.push(...page.shards.map(({ range }) => range.start));
      if (page.next === undefined) break;
      after = `&after=${page.next}`;
    }
    demandMatch(starts, ["a", "f", "k", "p", "u"], `${list} by range start`);
  }
  const done = await probe.call("listShards", `${path}/shards?tenant=${tenant}&status=Done`);
  demandMatch(done.shards, [], "a filter by status");
}

async function missing(probe: ServiceProbe): Promise<void> {
  const run = probe.id();
  for (const path of ["", "/progress", "/capacity", "/estimate", "/candidates", "/shards", "/records", "/failures"])
    await probe.refused(`/v1/runs/${run}${path}?tenant=${probe.tenant}`, {}, NOT_FOUND);
  await probe.refused(`/v1/runs/${run}/cancel`, { body: { tenant: probe.tenant, opId: probe.id() } }, NOT_FOUND);
  const claim = { tenant: probe.tenant, run, worker: run, opId: run };
  const failed = await probe.element("claim", claim);
  demand(failed.error !== undefined, "a claim of a run that does not exist must fail");
}

async function ended(probe: ServiceProbe): Promise<void> {
  const { run, body } = await probe.makeRun();
  const { tenant } = probe;
  const path = `/v1/runs/${run}`;
  const complete = { tenant, opId: probe.id() };
  const unsettled = await probe.refused(`${path}/complete`, { body: complete }, { status: 409, kind: "RunUnsettled" });
  demandMatch(unsettled, { active: 1, parked: 0 }, "RunUnsettled");
  await probe.refused(`${path}?tenant=${tenant}`, { method: "DELETE" }, { status: 409, kind: "WrongStatus" });
  const { lease } = await probe.claim(run);
  await probe.done("complete", { lease, opId: probe.id(), isExhausted: true });
  const first = await probe.call("completeRun", `${path}/complete`, { body: complete });
  demandMatch(first, { outcome: "Executed", run: { status: "Done" } }, "complete");
  const again = await probe.call("completeRun", `${path}/complete`, { body: complete });
  demandMatch(again, { outcome: "Replayed", run: { status: "Done" } }, "complete again");
  const claim = { tenant, run, worker: probe.id(), opId: probe.id() };
  await probe.failed("claim", claim, { status: 409, kind: "RunTerminal", advice: "Stop" });
  await probe.call("deleteRun", `${path}?tenant=${tenant}`, { method: "DELETE" });
  await probe.refused(`${path}?tenant=${tenant}`, {}, NOT_FOUND);
  const lookup = await probe.call("lookUpRun", `${path}/lookup?tenant=${tenant}`);
  demandMatch(lookup, { isDeleted: true }, "lookup of a deleted run");
  // Fences would start again, and a worker of the deleted run could pass.
  await probe.refused("/v1/runs", { body: { ...body, opId: probe.id() } }, EXISTS);
}

async function badConfig(probe: ServiceProbe): Promise<void> {
  const body = { tenant: probe.tenant, run: probe.id(), opId: probe.id(), config: { leaseDuration: "0" }, shards: [] };
  await probe.refused("/v1/runs", { body }, { status: 422, kind: "InvalidConfig" });
  const overlapping = ["1", "2"].map((id) => ({ shard: id.padStart(16, "0"), range: { start: "a", end: "z" } }));
  const config = { leaseDuration: "1000" };
  const error = await probe.refused(
    "/v1/runs",
    { body: { ...body, config, shards: overlapping } },
    { status: 422, kind: "RegisterShardsFailed" },
  );
  demandMatch(error, { reason: { kind: "ManifestInvalid" } }, "shards that overlap");
  await probe.refused(`/v1/runs/${body.run}?tenant=${probe.tenant}`, {}, NOT_FOUND);
}

async function settings(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const path = `/v1/runs/${run}/settings`;
  const before = await probe.call("getRunSettings", `${path}?tenant=${probe.tenant}`);
  demandMatch(before.settings, { paused: false }, "the settings of a new run");
  const changed = await probe.call("changeRunSettings", path, { body: { tenant: probe.tenant, paused: true } });
  demandMatch(changed.settings, { paused: true }, "a change");
  const after = await probe.call("getRunSettings", `${path}?tenant=${probe.tenant}`);
  demandMatch(after, changed, "the settings after a change");
}

/** Runs: creating, listing, ending, deleting. */
export const runCases: readonly ProtocolCase[] = [
  { name: "a run is created once", run: created },
  { name: "shards are registered in pages, and exist with the last page", run: inPages },
  { name: "runs and shards are listed in order, a page at a time", run: listed },
  { name: "a run that does not exist is 404 everywhere", run: missing },
  { name: "a run ends once, and its id is never used again", run: ended },
  { name: "a bad configuration or manifest is 422 and leaves no run", run: badConfig },
  { name: "settings are read and changed", run: settings },
];
