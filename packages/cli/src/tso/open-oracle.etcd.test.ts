// `gossip tso serve` on an etcd that asks for a user: without a way to give one, a fleet's oracle needs an open etcd.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gossipLine, type Said } from "../commands/command-line.fixture.ts";

const SKIPPED = etcdSkipped();
const PASSWORD = "pass@word";

let cwd: string;
let etcd: EtcdServer;
beforeAll(async () => {
  if (SKIPPED !== undefined) return;
  cwd = await mkdtemp(join(tmpdir(), "gossip-tso-"));
  await writeFile(join(cwd, "secret"), `${PASSWORD}\n`);
  etcd = await startEtcd();
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(etcd.endpoint + path, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}`);
  };
  await post("/v3/auth/user/add", { name: "root", password: PASSWORD });
  await post("/v3/auth/user/grant", { user: "root", role: "root" });
  await post("/v3/auth/enable", {});
}, 60_000);
afterAll(async () => {
  if (SKIPPED !== undefined) return;
  await etcd.dispose();
  await rm(cwd, { recursive: true, force: true });
});

/** Serve until a line matches, then stop as with Ctrl-C. */
async function serveUntil(line: RegExp, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Said> {
  let stop = (): void => {};
  return gossipLine(["tso", "serve", "--listen", "127.0.0.1:0", "--http", "off", ...args], {
    cwd,
    env,
    onListening: (send) => (stop = () => send("SIGINT")),
    // Not at once: the first line may come before the command listens for signals.
    onLine: (text) => void (line.test(text) && setImmediate(() => stop())),
  });
}

describe.skipIf(SKIPPED !== undefined)("gossip tso serve --etcd", { timeout: 60_000 }, () => {
  test("logs in with the URL, a file or the environment, and never prints the password", async () => {
    const inUrl = etcd.endpoint.replace("http://", `http://root:${encodeURIComponent(PASSWORD)}@`);
    const asUser = ["--etcd", etcd.endpoint, "--etcd-user", "root"];
    for (const said of [
      await serveUntil(/^serving/, ["--etcd", inUrl]),
      await serveUntil(/^serving/, [...asUser, "--etcd-password-file", "secret"]),
      await serveUntil(/^serving/, asUser, { GOSSIP_ETCD_PASSWORD: PASSWORD }),
    ]) {
      expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("serving epoch") as string });
      expect(said.stdout + said.stderr).not.toMatch(/pass(@|%40)word/);
    }
  });

  test("says that etcd refuses the login", async () => {
    const said = await serveUntil(/^event etcd failed/, [
      "--etcd",
      etcd.endpoint.replace("http://", "http://root:no@"),
    ]);
    expect(said.stdout).toMatch(/^event etcd failed: .*authentication/m);
  });

  test("refuses a user without a password as a mistake in the command line", async () => {
    expect(await serveUntil(/never/, ["--etcd", etcd.endpoint, "--etcd-user", "root"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("etcd has a user and no password") as string,
    });
  });
});
