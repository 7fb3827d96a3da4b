import { demand, demandMatch } from "./expect-wire.ts";
import type { ProtocolCase } from "./protocol-case.ts";
import type { ServiceProbe } from "./service-probe.ts";

const RUN = "00000000000000ff";

async function malformed(probe: ServiceProbe): Promise<void> {
  const claim = { run: RUN, worker: RUN, opId: RUN };
  const bad = async (path: string, asked: Parameters<ServiceProbe["ask"]>[1], field?: string): Promise<void> => {
    const error = await probe.refused(path, asked!, { status: 400, kind: "BadRequest" });
    demandMatch(error, { advice: "FixCaller", ...(field === undefined ? {} : { field }) }, path);
  };
  await bad("/v1/claim", { body: { elements: [{ ...claim, cuont: 2 }] } }, "elements.0.cuont");
  await bad("/v1/claim", { body: { elements: [claim], wait: 5 } }, "wait");
  await bad("/v1/claim", { body: { elements: [{ ...claim, run: 5 }] } }, "elements.0.run");
  await bad("/v1/claim", { body: { elements: [{ worker: RUN, opId: RUN }] } }, "elements.0.run");
  await bad("/v1/claim", { body: { elements: [] } }, "elements");
  await bad("/v1/claim", { text: "{" });
  await bad("/v1/claim", { text: "" });
  await bad(`/v1/runs?tenant=${probe.tenant}&limt=3`, {}, "limt");
  await bad(`/v1/runs?tenant=${probe.tenant}&limit=x`, {}, "limit");
  await bad(`/v1/runs/xyz?tenant=${probe.tenant}`, {}, "run");
  await probe.refused(
    "/v1/claim",
    { text: "{}", headers: { "content-type": "text/plain" } },
    { status: 415, kind: "WrongMediaType" },
  );
}

async function unknownPaths(probe: ServiceProbe): Promise<void> {
  await probe.refused("/v1/clame", { body: {} }, { status: 404, kind: "UnknownPath" });
  await probe.refused("/v1/runs/a/b/c/d", {}, { status: 404, kind: "UnknownPath" });
  const { status, headers, json } = await probe.ask("/v1/claim");
  demandMatch({ status, json }, { status: 405, json: { error: { kind: "WrongMethod" } } }, "GET /v1/claim");
  demand(headers.get("allow") === "POST", "405 must list the methods in `allow`");
}

async function tokens(probe: ServiceProbe): Promise<void> {
  if (probe.service.token === undefined) return;
  for (const token of [undefined, "gsp_00000000_wrong", `${probe.service.token}x`]) {
    const { status, headers, json } = await probe.ask(`/v1/runs?tenant=${probe.tenant}`, { token });
    demandMatch({ status, json }, { status: 401, json: { error: { kind: "Unauthenticated" } } }, "a wrong token");
    demand((headers.get("www-authenticate") ?? "").startsWith("Bearer"), "401 must have `www-authenticate: Bearer`");
  }
  // A client without a token learns nothing, not even which paths exist.
  await probe.refused("/v1/nothing", { token: undefined }, { status: 401, kind: "Unauthenticated" });
}

async function notCached(probe: ServiceProbe): Promise<void> {
  const { headers } = await probe.ask(`/v1/runs?tenant=${probe.tenant}`);
  demand(headers.get("cache-control") === "no-store", "responses must have `cache-control: no-store`");
  demand(headers.get("access-control-allow-origin") === null, "responses must not allow other origins");
}

async function timestamps(probe: ServiceProbe): Promise<void> {
  const first = await probe.call("timestamp", "/v1/timestamp?count=3");
  const second = await probe.call("timestamp", "/v1/timestamp");
  demandMatch([first.count, second.count], [3, 1], "the count of timestamps");
  demand(BigInt(second.timestamp) >= BigInt(first.timestamp) + 3n, "timestamps must not be given out twice");
  await probe.refused("/v1/timestamp?count=0", {}, { status: 400, kind: "BadRequest" });
}

async function strangers(probe: ServiceProbe): Promise<void> {
  const { strangerToken: token } = probe.service;
  const { run } = await probe.makeRun();
  const { lease } = await probe.claim(run);
  const missing = probe.id();
  const paths = ["", "/progress", "/capacity", "/estimate", "/candidates", "/shards", "/records", "/failures"];
  for (const path of [...paths, "/failures/count", "/parked", "/workers", "/settings", "/lookup"]) {
    const ask = (id: string) => probe.ask(`/v1/runs/${id}${path}?tenant=${probe.tenant}`, { token });
    const [theirs, none] = [await ask(run), await ask(missing)];
    demandMatch({ status: theirs.status, json: theirs.json }, { status: none.status, json: none.json }, `${path}`);
    demand(path === "/lookup" || theirs.status === 404, `${path} of another tenant's run must be 404`);
  }
  const listed = await probe.ask(`/v1/runs?tenant=${probe.tenant}`, { token });
  demandMatch(listed.json, { runs: [] }, "the runs of another tenant");
  const { json } = await probe.ask("/v1/renew", { token, body: { elements: [{ lease }] } });
  demandMatch(json, { results: [{ status: 404, error: { kind: "ShardNotFound" } }] }, "another tenant's lease");
  const cancel = { token, body: { tenant: probe.tenant, opId: probe.id() } };
  await probe.refused(`/v1/runs/${run}/cancel`, cancel, { status: 404, kind: "RunNotFound" });
}

/** The form of requests and responses, tokens, and what other tenants see. */
export const formCases: readonly ProtocolCase[] = [
  { name: "a malformed request is 400 and names its field", run: malformed },
  { name: "an unknown path is 404, another method 405", run: unknownPaths },
  { name: "without a valid token everything is 401", run: tokens },
  { name: "responses are not cached and not shared with other origins", run: notCached },
  { name: "timestamps grow", run: timestamps },
  { name: "another tenant's run looks like one that does not exist", needsStranger: true, run: strangers },
];
