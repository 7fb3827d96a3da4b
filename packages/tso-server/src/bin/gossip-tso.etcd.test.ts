// Only a test's etcd is open to all. A real one asks for a user or a certificate, and the program has to have one.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdTlsSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import { unwrap } from "@gossip/stdx";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TimestampClient } from "../client/timestamp-client.ts";
import { Bundle } from "../processes/bundle.fixture.ts";
import { BundledProcess } from "../processes/bundled-process.fixture.ts";

const SKIPPED = etcdTlsSkipped();
const PASSWORD = "pass@word";
const SERVE = ["serve", "--listen", "127.0.0.1:0", "--http", "off", "--lease-ttl", "1"];

let folder: string;
let bundle: Bundle;
let withUsers: EtcdServer;
let withTls: EtcdServer;

beforeAll(async () => {
  if (SKIPPED !== undefined) return;
  folder = await mkdtemp(join(tmpdir(), "tso-etcd-"));
  [bundle, withUsers, withTls] = await Promise.all([
    Bundle.of(new URL("./gossip-tso.ts", import.meta.url)),
    startEtcd(),
    startEtcd([], { tls: "Mutual" }),
  ]);
  await turnOnUsers(withUsers.endpoint);
  await writeFile(join(folder, "password"), `${PASSWORD}\n`);
  for (const [name, pem] of Object.entries(withTls.certificates!)) await writeFile(join(folder, name), pem);
}, 60_000);
afterAll(async () => {
  if (SKIPPED !== undefined) return;
  await Promise.all([withUsers.dispose(), withTls.dispose(), bundle.dispose()]);
  await rm(folder, { recursive: true, force: true });
});

/** Run the program until it has given a timestamp, and return everything that it printed. */
async function serve(args: readonly string[]): Promise<string> {
  const server = new BundledProcess(bundle, [...SERVE, ...args]);
  try {
    await server.line("serving");
    const endpoint = (await server.line("listening")).split(" ")[1]!;
    const client = unwrap(TimestampClient.create({ endpoints: [endpoint] }));
    expect((await client.getTs()).ok).toBe(true);
    client.close();
    server.signal("SIGTERM");
    expect((await server.exited).code).toBe(0);
    return [...server.lines, server.stderr].join("\n");
  } finally {
    await server.kill();
  }
}

describe.skipIf(SKIPPED !== undefined)("gossip-tso serve --etcd", { timeout: 60_000 }, () => {
  const urlWith = (userInfo: string): string => withUsers.endpoint.replace("http://", `http://${userInfo}@`);
  const file = (name: string): string => join(folder, name);

  test("logs in with the user and password of the URL, and prints neither", async () => {
    const printed = await serve(["--etcd", urlWith(`root:${encodeURIComponent(PASSWORD)}`)]);
    expect(printed).not.toMatch(/pass(@|%40)word/);
  });

  test("logs in with a password from a file", async () => {
    await serve(["--etcd", withUsers.endpoint, "--etcd-user", "root", "--etcd-password-file", file("password")]);
  });

  test("says that etcd refuses a wrong password, and does not print it", async () => {
    const server = new BundledProcess(bundle, [...SERVE, "--etcd", urlWith("root:wrong-word")]);
    try {
      expect(await server.line("etcd failed")).toMatch(/authentication/);
      expect([...server.lines, server.stderr].join("\n")).not.toContain("wrong-word");
    } finally {
      await server.kill();
    }
  });

  test("trusts the authority and shows the certificate that its flags name", async () => {
    const flags = ["--etcd-ca", file("ca"), "--etcd-cert", file("cert"), "--etcd-key", file("key")];
    await serve(["--etcd", withTls.endpoint, ...flags]);
  });

  test("refuses a key that belongs to another certificate", async () => {
    const { stdout: key } = spawnSync("openssl", [
      "genpkey",
      "-algorithm",
      "EC",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
    ]);
    await writeFile(file("other-key"), key);
    const flags = ["--etcd-ca", file("ca"), "--etcd-cert", file("cert"), "--etcd-key", file("other-key")];
    const server = new BundledProcess(bundle, [...SERVE, "--etcd", withTls.endpoint, ...flags]);
    try {
      expect((await server.exited).code).toBe(2);
      expect(server.stderr).toContain("--etcd-key does not belong to the certificate");
    } finally {
      await server.kill();
    }
  });

  test("takes the same from the URL", async () => {
    await serve(["--etcd", `${withTls.endpoint}?ca=${file("ca")}&cert=${file("cert")}&key=${file("key")}`]);
  });

  test("says that it does not trust an authority that it was not given", async () => {
    const server = new BundledProcess(bundle, [...SERVE, "--etcd", withTls.endpoint]);
    try {
      expect(await server.line("etcd failed")).toMatch(/CERT|SIGNATURE|SIGNED/);
    } finally {
      await server.kill();
    }
  });
});

async function turnOnUsers(endpoint: string): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(endpoint + path, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}`);
  };
  await post("/v3/auth/user/add", { name: "root", password: PASSWORD });
  await post("/v3/auth/user/grant", { user: "root", role: "root" });
  await post("/v3/auth/enable", {});
}
