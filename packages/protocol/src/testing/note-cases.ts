import { demand, demandMatch } from "./expect-wire.ts";
import type { ProtocolCase } from "./protocol-case.ts";
import type { ServiceProbe } from "./service-probe.ts";

async function failures(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { tenant } = probe;
  const { lease } = await probe.claim(run);
  const path = `/v1/runs/${run}/failures`;
  const skipped = ["b", "c"].map((key) => ({ key, attempts: 2, reason: "ItemFailed" as const, error: `no ${key}` }));
  const element = { lease, opId: probe.id(), cursor: { key: "d" }, failures: skipped };
  await probe.done("checkpoint", element);
  await probe.done("checkpoint", element);
  const { failures: listed } = await probe.call("listFailures", `${path}?tenant=${tenant}`);
  demandMatch(
    listed,
    skipped.map((failure) => ({ ...failure, worker: lease.worker })),
    "failures by key",
  );
  const above = { ...element, opId: probe.id(), cursor: { key: "e" }, failures: [{ ...skipped[0]!, key: "f" }] };
  const [refused] = await probe.elements("checkpoint", [above]);
  demandMatch(refused, { status: 400, error: { field: "failures.0.key" } }, "a failure above the cursor");
  demandMatch(await probe.call("countFailures", `${path}/count?tenant=${tenant}`), { count: 2 }, "the count");
  await probe.call("resolveFailures", `${path}/resolve`, { body: { tenant, keys: [{ key: "b" }] } });
  const left = await probe.call("listFailures", `${path}?tenant=${tenant}`);
  demandMatch(left.failures, [{ key: "c" }], "failures that are left");
}

async function workers(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { tenant } = probe;
  const worker = probe.id();
  const path = `/v1/runs/${run}/workers`;
  const info = { name: "w", host: "h", pid: 1, version: "1", startedAt: "1", shards: [], itemCount: 7 };
  await probe.call("registerWorker", `${path}/${worker}`, { body: { tenant, ...info, ttlMs: "60000" } });
  const { workers: listed } = await probe.call("listWorkers", `${path}?tenant=${tenant}`);
  demandMatch(listed, [{ worker, name: "w", itemCount: 7 }], "workers");
  await probe.call("unregisterWorker", `${path}/${worker}?tenant=${tenant}`, { method: "DELETE" });
  const left = await probe.call("listWorkers", `${path}?tenant=${tenant}`);
  demandMatch(left.workers, [], "workers after one has gone");
}

async function documents(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const { tenant } = probe;
  const { lease } = await probe.claim(run);
  await probe.call("putMarker", "/v1/marker", { body: { lease, key: "k" } });
  const marker = await probe.call("getMarker", `/v1/runs/${run}/shards/${lease.shard}/marker?tenant=${tenant}`);
  demandMatch(marker, { marker: { key: "k", worker: lease.worker, fence: lease.fence } }, "a marker");
  const path = `/v1/runs/${run}/rollups/kit`;
  demand((await probe.call("getRollup", `${path}?tenant=${tenant}`)).value64 === undefined, "no document yet");
  await probe.call("putRollup", path, { body: { tenant, value64: "e30" } });
  demandMatch(await probe.call("getRollup", `${path}?tenant=${tenant}`), { value64: "e30" }, "a document");
}

/** Read lines of a stream until one satisfies `isLast`. */
async function readUntil(response: Response, isLast: (line: string) => boolean): Promise<string[]> {
  const lines: string[] = [];
  let text = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    const parts = text.split("\n");
    text = parts.pop()!;
    for (const line of parts) {
      lines.push(line);
      if (isLast(line)) return lines;
    }
  }
  demand(false, "a stream of events must not end by itself");
  return lines;
}

async function events(probe: ServiceProbe): Promise<void> {
  const { run } = await probe.makeRun();
  const path = `/v1/events?tenant=${probe.tenant}&run=${run}`;
  const stream = await probe.open(path);
  demand(stream.headers.get("content-type") === "text/event-stream", "events must be server-sent by default");
  const { lease } = await probe.claim(run);
  await probe.done("renew", { lease });
  const lines = await readUntil(stream, (line) => line.startsWith("data:") && line.includes("ShardLeaseRenewed"));
  const ids = lines.filter((line) => line.startsWith("id: ")).map((line) => line.slice(4));
  const kinds = lines.filter((line) => line.startsWith("event: ")).map((line) => line.slice(7));
  demandMatch(kinds, ["ShardAcquired", "ShardLeaseRenewed"], "the events of the run");
  // A reader that was cut off goes on behind the last event that it has seen, in either format.
  const resumed = await probe.open(path, {
    headers: { "last-event-id": ids[0]!, accept: "application/x-ndjson" },
  });
  demand(resumed.headers.get("content-type") === "application/x-ndjson", "events must come as lines if asked for");
  // A server that starts over, or from now on, shows another event first.
  await probe.done("renew", { lease });
  const [next] = await readUntil(resumed, (line) => line !== "");
  demandMatch(JSON.parse(next!), { id: ids[1], kind: "ShardLeaseRenewed" }, "the event after Last-Event-ID");
}

/** What a run keeps besides its shards, and its events. */
export const noteCases: readonly ProtocolCase[] = [
  { name: "skipped items are recorded with the checkpoint, once", run: failures },
  { name: "workers register and leave", run: workers },
  { name: "markers and shared documents are kept", run: documents },
  { name: "events are streamed, and resumed after Last-Event-ID", run: events },
];
