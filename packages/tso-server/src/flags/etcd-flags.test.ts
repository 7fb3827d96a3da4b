// A password that cannot be given leaves only an etcd that is open to all; one that is printed is lost.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ETCD_PASSWORD_VARIABLE, parseEtcdFlags, readEtcdSettings, type EtcdFlags } from "./etcd-flags.ts";

const SECRET = "s3cret,%@/word";
const ENCODED = encodeURIComponent(SECRET);

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "tso-flags-"));
  for (const [name, text] of Object.entries({ pw: `${SECRET}\n`, "no.pem": SECRET }))
    await writeFile(join(cwd, name), text);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

async function connectionOf(flags: EtcdFlags, env: NodeJS.ProcessEnv = {}) {
  const settings = parseEtcdFlags(flags);
  return settings.ok ? readEtcdSettings(settings.value, { env, cwd }) : settings;
}

describe("the flags of etcd", () => {
  const login = { username: "tso", password: SECRET };

  test.each<[what: string, flags: EtcdFlags, env?: NodeJS.ProcessEnv]>([
    ["in the URL", { etcd: `http://tso:${ENCODED}@a:2379,http://b:2379` }],
    ["in every URL alike", { etcd: `http://tso:${ENCODED}@a:2379,http://tso:${ENCODED}@b:2379` }],
    ["in a file", { etcd: "http://a:2379,http://b:2379", etcdUser: "tso", etcdPasswordFile: "pw" }],
    ["in a file that the URL names", { etcd: "http://tso@a:2379?password-file=pw,http://b:2379" }],
    ["in the environment", { etcd: "http://tso@a:2379,http://b:2379" }, { [ETCD_PASSWORD_VARIABLE]: SECRET }],
  ])("take a password %s", async (_, flags, env) => {
    expect(unwrap(await connectionOf(flags, env))).toEqual({
      endpoints: ["http://a:2379", "http://b:2379"],
      tls: {},
      ...login,
    });
  });

  test("take certificates from flags and from the URL alike", () => {
    const inUrl = parseEtcdFlags({ etcd: "https://a:1?ca=ca.pem&cert=c.pem&key=k.pem&server-name=n" });
    const inFlags = parseEtcdFlags({
      etcd: "https://a:1",
      etcdCa: "ca.pem",
      etcdCert: "c.pem",
      etcdKey: "k.pem",
      etcdServerName: "n",
    });
    expect(inFlags).toEqual(inUrl);
    expect(unwrap(inUrl)).toEqual({
      endpoints: ["https://a:1"],
      ca: "ca.pem",
      cert: "c.pem",
      key: "k.pem",
      "server-name": "n",
    });
  });

  test("leave a password of the environment alone where there is no user", async () => {
    const connection = unwrap(await connectionOf({ etcd: "http://a:1" }, { [ETCD_PASSWORD_VARIABLE]: SECRET }));
    expect(connection).toEqual({ endpoints: ["http://a:1"], tls: {} });
  });

  test.each<EtcdFlags>([
    { etcd: "" },
    { etcd: `tso:${ENCODED}@a:2379` },
    { etcd: `postgres://tso:${ENCODED}@a:2379` },
    { etcd: `http://tso:${ENCODED}@a:2379/path` },
    { etcd: `http://tso:${ENCODED}@a:2379?pasword-file=${ENCODED}` },
    { etcd: `http://tso:%zz${ENCODED}@a:2379` },
    { etcd: `http://tso:${ENCODED}@a:2379,http://other:${ENCODED}@b:2379` },
    { etcd: `http://tso:${ENCODED}@a:2379`, etcdUser: "other" },
    { etcd: `http://tso:${ENCODED}@a:2379`, etcdPasswordFile: "pw" },
    { etcd: `http://:${ENCODED}@a:2379` },
    { etcd: "http://a:2379", etcdUser: "" },
    { etcd: "http://a:2379", etcdPasswordFile: "pw" },
    { etcd: "http://tso@a:2379" },
    { etcd: "https://a:2379", etcdCert: "c.pem" },
    { etcd: "https://a:2379", etcdCa: "missing.pem" },
    { etcd: "https://a:2379", etcdCa: "no.pem" },
    { etcd: "https://a:2379", etcdCert: "no.pem", etcdKey: "no.pem" },
  ])("that cannot work are refused, and no secret is repeated: %j", async (flags) => {
    const refused = await connectionOf(flags);
    expect(refused).toMatchObject({ ok: false, error: { kind: "Usage" } });
    const shown = JSON.stringify(refused);
    for (const secret of [SECRET, ENCODED, "s3cret"]) expect(shown).not.toContain(secret);
  });
});
