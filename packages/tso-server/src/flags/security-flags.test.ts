// A flag that is misread leaves a server open that its operator believes is closed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates, tlsSkipped } from "@gossip/tools/engines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashToken } from "../wire/token.ts";
import { readTsoFlag, TSO_TOKEN_VARIABLE } from "./client-flags.ts";
import { readServerFlags, type ServerFlags } from "./server-flags.ts";

const TOKEN = "gossip_tso_0123456789abcdef";
const SKIPPED = tlsSkipped();

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "tso-flags-"));
  if (SKIPPED === undefined) makeCertificates(cwd);
  writeFileSync(join(cwd, "tokens"), `# two clients\n${TOKEN}\n\n ${hashToken(`${TOKEN}2`)}\r\n`);
  writeFileSync(join(cwd, "bad-tokens"), `${TOKEN}\nshort\n`);
  writeFileSync(join(cwd, "no-tokens"), "# none yet\n");
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(cwd, file), "utf8");
const client = (tso: string, env: NodeJS.ProcessEnv = {}) => readTsoFlag(tso, { env, cwd });

describe("the flags of a server", () => {
  test("without any, it is open", async () => {
    expect(await readServerFlags({}, { cwd })).toEqual({ ok: true, value: {} });
  });

  test("tokens are read as text or as hashes, and kept as hashes", async () => {
    expect(await readServerFlags({ tokens: "tokens" }, { cwd })).toEqual({
      ok: true,
      value: { tokens: [hashToken(TOKEN), hashToken(`${TOKEN}2`)] },
    });
    expect(await readServerFlags({ tokens: "no-tokens" }, { cwd })).toEqual({ ok: true, value: { tokens: [] } });
  });

  test.skipIf(SKIPPED !== undefined)("certificates are read from their files", async () => {
    const flags = { tlsCert: "server.pem", tlsKey: "server.key", tlsClientCa: "ca.pem" };
    expect(await readServerFlags(flags, { cwd })).toEqual({
      ok: true,
      value: { tls: { cert: read("server.pem"), key: read("server.key"), ca: read("ca.pem") } },
    });
  });

  test.each<[flags: ServerFlags, complaint: string]>([
    [{ tokens: "missing" }, "--tokens cannot be read (ENOENT)"],
    [{ tokens: "bad-tokens" }, "a line of --tokens is no token"],
    [{ tlsCert: "server.pem" }, "give --tls-cert and --tls-key"],
    [{ tlsKey: "server.key" }, "give --tls-cert and --tls-key"],
    [{ tlsClientCa: "ca.pem" }, "--tls-client-ca needs TLS"],
    [{ tlsCert: "tokens", tlsKey: "tokens" }, "the file of --tls-cert is not a certificate"],
  ])("%j is refused", async (flags, complaint) => {
    const refused = await readServerFlags(flags, { cwd });
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining(complaint) as string } });
    expect(JSON.stringify(refused)).not.toContain(TOKEN);
  });

  test.skipIf(SKIPPED !== undefined)("a key of another certificate is refused", async () => {
    expect(await readServerFlags({ tlsCert: "server.pem", tlsKey: "client.key" }, { cwd })).toMatchObject({
      error: { message: expect.stringContaining("does not belong to the certificate") as string },
    });
  });
});

describe("--tso", () => {
  test("is a list of addresses, without TLS", async () => {
    expect(await client("a:1, b:2")).toEqual({ ok: true, value: { endpoints: ["a:1", "b:2"] } });
  });

  test("takes a token from the environment", async () => {
    expect(await client("a:1", { [TSO_TOKEN_VARIABLE]: TOKEN })).toEqual({
      ok: true,
      value: { endpoints: ["a:1"], token: TOKEN },
    });
  });

  test("with tsos:// it is a list of addresses with TLS", async () => {
    expect(await client("tsos://a:1,b:2")).toEqual({ ok: true, value: { endpoints: ["a:1", "b:2"], tls: {} } });
  });

  test.skipIf(SKIPPED !== undefined)("reads the files and the name after the question mark", async () => {
    expect(await client("tsos://a:1?ca=ca.pem&cert=client.pem&key=client.key&server-name=tso")).toEqual({
      ok: true,
      value: {
        endpoints: ["a:1"],
        tls: { ca: read("ca.pem"), cert: read("client.pem"), key: read("client.key"), serverName: "tso" },
      },
    });
  });

  test.each([
    ["a:1?ca=ca.pem", "only a --tso that begins with tsos://"],
    ["tsos://a:1?verify=no", "--tso has an unknown setting"],
    ["tsos://a:1?ca=missing", "the setting ca of --tso cannot be read (ENOENT)"],
    ["tsos://a:1?cert=client.pem", "a certificate needs its key"],
  ])("%s is refused", async (tso, complaint) => {
    expect(await client(tso)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(complaint) as string },
    });
  });

  test("a token that is none is refused and not repeated", async () => {
    const refused = await client("a:1", { [TSO_TOKEN_VARIABLE]: "s3cret" });
    expect(refused).toMatchObject({ ok: false });
    expect(JSON.stringify(refused)).not.toContain("s3cret");
  });
});
