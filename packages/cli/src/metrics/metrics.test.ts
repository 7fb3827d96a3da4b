// An alert on a metric that is missing or misnamed never fires, and a probe that is always ready keeps a process in
// service that cannot work. So a real run is asked over real HTTP.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";
import { Histogram } from "./histogram.ts";
import { METRICS } from "./metric-names.ts";
import { parseMetricsAddress } from "./metrics-address.ts";
import { serveMetrics, type MetricsSource } from "./metrics-server.ts";

describe("parseMetricsAddress", () => {
  test.each([
    ["9090", "127.0.0.1", 9090],
    ["0", "127.0.0.1", 0],
    ["0.0.0.0:80", "0.0.0.0", 80],
    ["localhost:9090", "localhost", 9090],
    ["[::1]:9090", "::1", 9090],
  ])("%s", (text, host, port) => {
    expect(parseMetricsAddress(text)).toEqual({ ok: true, value: { host, port } });
  });

  test.each(["", ":", ":9090", "host", "host:", "host:x", "65536", "::1:9090", "http://host:1", "a b:1", "-1"])(
    "refuses %j",
    (text) => expect(parseMetricsAddress(text)).toMatchObject({ ok: false, error: { kind: "BadCommandLine" } }),
  );
});

test("a histogram has cumulative buckets, a sum and a count", () => {
  const histogram = new Histogram();
  for (const seconds of [0.0001, 0.003, 0.003, 70]) histogram.record(seconds);
  const lines = histogram.lines("d", 'operation="commit",');
  expect(lines).toContain('d_bucket{operation="commit",le="0.0005"} 1');
  expect(lines).toContain('d_bucket{operation="commit",le="0.005"} 3');
  expect(lines).toContain('d_bucket{operation="commit",le="10"} 3');
  expect(lines.slice(-3)).toEqual([
    'd_bucket{operation="commit",le="+Inf"} 4',
    `d_sum{operation="commit"} ${0.0001 + 0.003 + 0.003 + 70}`,
    'd_count{operation="commit"} 4',
  ]);
});

describe("serveMetrics", () => {
  test("a process that cannot work is alive and not ready, and other requests are refused", async () => {
    let source: MetricsSource | undefined;
    const served = await serveMetrics({ host: "127.0.0.1", port: 0 }, () => source);
    if (!served.ok) throw new Error(served.error.message);
    const { url } = served.value;
    const statusOf = async (path: string, method = "GET"): Promise<number> =>
      (await fetch(`${url}${path}`, { method })).status;
    expect(await statusOf("/readyz")).toBe(503);
    source = { text: () => "x 1\n", notReady: "the store has not responded" };
    const notReady = await fetch(`${url}/readyz`);
    expect([notReady.status, await notReady.text()]).toEqual([503, "the store has not responded\n"]);
    source = { text: () => "x 1\n", notReady: undefined };
    expect(await Promise.all(["/readyz", "/healthz?probe", "/metrics", "/"].map((path) => statusOf(path)))).toEqual([
      200, 200, 200, 404,
    ]);
    expect([await statusOf("/metrics", "POST"), await statusOf("/metrics", "HEAD")]).toEqual([405, 200]);
    await served.value.close();
  });
});

describe("gossip run --metrics", () => {
  let folder: string;
  let running: GossipProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "gossip-metrics-"));
    writeFileSync(join(folder, "rows"), Array.from({ length: 200 }, (_, index) => `${index}\n`).join(""));
    writeFileSync(
      join(folder, "job.mjs"),
      `import { existsSync } from "node:fs";
      export default async ({ line }) => {
        if (line === "7") throw new Error("seven");
        while (Number(line) % 20 > 9 && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
      };`,
    );
  });
  afterEach(async () => {
    await running?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  afterAll(removeGossipScript);

  const RUN = ["run", "--source", "lines:rows", "--module", "./job.mjs", "--workers", "8", "--retries", "0"];

  test("has every metric while it works, and is ready", async () => {
    running = await startGossip([...RUN, "--metrics", "0"], { cwd: folder });
    await running.said(/Metrics are at http:\/\/127\.0\.0\.1:\d+\/metrics/);
    const [, url] = /Metrics are at (http:\S+)\/metrics/.exec(running.stderr)!;
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 60_000 }).toBe(200);
    expect(await (await fetch(`${url}/healthz`)).text()).toBe("ok\n");
    const read = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    await expect.poll(read, { timeout: 60_000 }).toMatch(/^gossip_run_items [1-9]/m);
    await expect.poll(read, { timeout: 60_000 }).toMatch(/^gossip_run_fraction 0\.\d+$/m);
    await expect.poll(read, { timeout: 60_000 }).toMatch(/^gossip_run_items_per_second /m);
    await expect.poll(read, { timeout: 60_000 }).toMatch(/^gossip_worker_leases 8$/m);
    // What is read from the store may be a look behind.
    await expect.poll(read, { timeout: 60_000 }).toMatch(/^gossip_run_shards\{state="leased"\} 8$/m);
    const text = await read();
    // The time left is not known while the work stands still.
    const missing = Object.keys(METRICS).filter((name) => !text.includes(`# TYPE ${name} `));
    expect(missing.filter((name) => name !== "gossip_run_eta_seconds")).toEqual([]);
    expect(text).toMatch(/^gossip_store_call_duration_seconds_count\{operation="commit"\} [1-9]/m);
    expect(text).toMatch(/^gossip_store_up 1$/m);
    // Every line is a comment or a sample.
    expect(
      text.split("\n").filter((line) => !/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^{}]*\})? [-\d.e+]+)?$/.test(line)),
    ).toEqual([]);
    writeFileSync(join(folder, "go"), "");
    expect((await running.ended).code).toBe(3);
  }, 180_000);

  test("an address that is none, or taken, is a usage error, and nothing is run", async () => {
    const bad = await gossip([...RUN, "--metrics", "nowhere"], { cwd: folder });
    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringMatching(/^gossip: --metrics "nowhere" is not an address/),
    ]);
    const taken = createServer();
    const port = await new Promise<number>((resolve) =>
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port)),
    );
    const refused = await gossip([...RUN, "--metrics", String(port)], { cwd: folder });
    taken.close();
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("(EADDRINUSE)")]);
    expect((await gossip(["runs", "--json"], { cwd: folder })).stdout).toBe("");
  }, 120_000);
});
