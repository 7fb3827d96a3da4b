// The whole way from a bucket on a real server to a file of results: the listing, the URL as an argument, its key in
// `show`, and a mistake in the command line.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { radosGatewaySkipped, startRadosGateway, type RadosGateway } from "@gossip/tools/engines";
import { gossipLine } from "../commands/command-line.fixture.ts";

const skipped = radosGatewaySkipped();

describe.skipIf(skipped !== undefined)("a bucket", () => {
  let server: RadosGateway;
  let folder: string;
  beforeAll(async () => {
    server = await startRadosGateway();
    folder = mkdtempSync(join(tmpdir(), "gossip-bucket-"));
    vi.stubEnv("AWS_ACCESS_KEY_ID", server.credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", server.credentials.secretAccessKey);
  }, 120_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server?.dispose();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  test("every object below the prefix is processed once, by its URL", async () => {
    const bucket = await server.makeBucket(["in/a b", "in/c'd", "in/é", "outside"]);
    const source = ["--source", `s3://${bucket}/in/`, "--endpoint", server.endpoint];
    const run = await gossipLine(["run", ...source, "--exec", "printf %s", "--out", "out.ndjson"], { cwd: folder });
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("3 items")]);
    const lines = readFileSync(join(folder, "out.ndjson"), "utf8").trimEnd().split("\n");
    const urls = ["in/a b", "in/c'd", "in/é"].map((key) => `s3://${bucket}/${key}`);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      urls.map((url) => expect.objectContaining({ url, stdout: url, ok: true })),
    );
    const shards = await gossipLine(["shards"], { cwd: folder });
    expect(shards.stdout).toContain("in/");
  });

  test.each([
    [["--source", "s3://", "--endpoint", "http://127.0.0.1:1"], /the S3 source cannot be used/],
    [["--source", "s3://bucket", "--endpoint", "127.0.0.1:1"], /--endpoint is not a URL/],
    [["--source", "fs:.", "--endpoint", "http://127.0.0.1:1"], /--endpoint is for s3: only/],
  ])("%j is a mistake in the command line", async (options, message) => {
    const { code, stderr } = await gossipLine(["run", ...options, "--exec", "true"], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
