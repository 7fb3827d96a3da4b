// Workers that have only a URL must keep the promise of the project too: kill any of them, and the server, at any moment,
// start them again, and every item is done and is in the results once.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { effort } from "@gossip/tools/effort";
import { freePort } from "@gossip/tools/engines";
import { afterAll, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type GossipProcess } from "../processes/gossip-process.fixture.ts";
import { killAndRestart } from "./killed-workers.fixture.ts";
import { tellReport } from "./long-run.fixture.ts";

const SIZE = effort({ usual: { fileCount: 300, killCount: 3 }, exploring: { fileCount: 20_000, killCount: 30 } });

afterAll(removeGossipScript);

test("killed workers and a killed server lose no file and double no result", { timeout: 1_800_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gossip-service-"));
  const port = await freePort();
  const serve = async (): Promise<GossipProcess> => {
    const server = await startGossip(["serve", "--store", "store", "--listen", `127.0.0.1:${port}`], { cwd: folder });
    expect(await server.heard(/^listening /m)).toBe(true);
    return server;
  };
  let server = await serve();
  try {
    const report = await killAndRestart({
      ...SIZE,
      store: `http://127.0.0.1:${port}`,
      onTurn: async (turn) => {
        if (turn % 3 !== 1) return;
        await server.kill();
        server = await serve();
      },
    });
    tellReport("service", report);
    server.signal("SIGTERM");
    expect((await server.ended).code).toBe(0);
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A module whose second item blocks the event loop until the keeper has renewed twice, which takes a whole lease. */
const blockingModule = (url: string): string => `
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
const poll = \`
(async () => {
  for (;;) {
    const text = await (await fetch("${url}/metrics")).text();
    const [, count = "0"] = /operation="renew",status="200"} (\\\\d+)/.exec(text) ?? [];
    if (Number(count) >= 2) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})()\`;
let items = 0;
export default () => {
  if (++items === 2) execFileSync(process.execPath, ["-e", poll]);
  appendFileSync("done", "x");
};
`;

test("a blocked event loop keeps its lease through the service", { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gossip-service-"));
  const server = await startGossip(["serve", "--store", "store", "--listen", "127.0.0.1:0", "--json"], { cwd: folder });
  try {
    expect(await server.heard(/"listening"/)).toBe(true);
    const url = /http:[^"]+/.exec(server.stdout)![0];
    writeFileSync(join(folder, "rows"), "one\ntwo\nthree\n");
    writeFileSync(join(folder, "job.mjs"), blockingModule(url));
    const run = ["run", "--source", "lines:rows", "--module", "job.mjs", "--workers", "1", "--shards", "1"];
    const ended = await gossip([...run, "--lease", "6", "--store", url], { cwd: folder });
    expect([ended.code, ended.stderr]).toEqual([0, expect.not.stringContaining("lost")]);
    // An item whose lease was lost would have been done again.
    expect(readFileSync(join(folder, "done"), "utf8")).toBe("xxx");
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
