// A password that is printed, or handed to every command, ends up in the logs and crash reports of other programs.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { gossipLine, type Said } from "../commands/command-line.fixture.ts";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";

const SECRET = "hunter2";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-credentials-"));
  writeFileSync(join(folder, "rows"), "one\ntwo\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

const at = (argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Said> =>
  gossipLine(argv, { cwd: folder, env });

/** Every variable that may hold a secret of ours. */
const secrets = (): NodeJS.ProcessEnv => ({
  GOSSIP_STORE: join(folder, `store-${SECRET}`),
  GOSSIP_TOKEN: SECRET,
  GOSSIP_TSO_TOKEN: SECRET,
  GOSSIP_ETCD_PASSWORD: SECRET,
});

const PRINT_ENVIRONMENT = ["run", "--source", "lines:rows", "--exec", ": {}; env", "--out", "out.ndjson"];

test("commands do not see the store's address, and see the rest", async () => {
  const env = { ...secrets(), PGPASSWORD: "for the command", MINE: "too" };
  expect((await at(PRINT_ENVIRONMENT, env)).code).toBe(0);
  const [line] = readFileSync(join(folder, "out.ndjson"), "utf8").split("\n");
  const { stdout } = JSON.parse(line!) as { stdout: string };
  for (const name of Object.keys(secrets())) expect(stdout).not.toContain(name);
  expect(stdout).not.toContain(SECRET);
  expect(stdout).toMatch(/^PGPASSWORD=for the command$/m);
  expect(stdout).toMatch(/^MINE=too$/m);
  expect(stdout).toMatch(/^GOSSIP_RUN=[0-9a-f]{16}$/m);
});

test("a module does not see it either, nor what it starts", async () => {
  writeFileSync(join(folder, "job.mjs"), "export default () => Object.keys(process.env);\n");
  const { code } = await gossip(["run", "--source", "lines:rows", "--module", "job.mjs", "--out", "out.ndjson"], {
    cwd: folder,
    env: { ...secrets(), GOSSIP_STORE: join(folder, "store") },
  });
  const results = readFileSync(join(folder, "out.ndjson"), "utf8");
  expect([code, readdirSync(folder)]).toEqual([0, expect.arrayContaining(["store"])]);
  expect(results).toContain("PATH");
  for (const name of Object.keys(secrets())) expect(results).not.toContain(name);
});

test("secrets in a command are in no list and in no store", async () => {
  const command = `PGPASSWORD=${SECRET} true postgres://me:${SECRET}@h {} -H 'Authorization: Bearer ${SECRET}' --token ${SECRET}`;
  expect((await at(["run", "--source", "lines:rows", "--exec", command])).code).toBe(0);
  for (const json of [[], ["--json"]])
    for (const argv of [["runs"], ["status"], ["shards"], ["show", "1"], ["events"], ["fsck"], ["doctor"]]) {
      const { stdout, stderr } = await at([...argv, ...json]);
      expect([argv, stdout + stderr]).toEqual([argv, expect.not.stringContaining(SECRET)]);
    }
  const inStore = readdirSync(join(folder, ".gossip"), { recursive: true, withFileTypes: true });
  for (const file of inStore.filter((entry) => entry.isFile()))
    expect(readFileSync(join(file.parentPath, file.name), "latin1")).not.toContain(SECRET);
});

const ADDRESS = `postgres://me:${SECRET}@127.0.0.1:1/d`;

test.each([
  [[ADDRESS]],
  [["runs", ADDRESS]],
  [["status", ADDRESS]],
  [["show", ADDRESS]],
  [["help", ADDRESS]],
  [[`--${ADDRESS}`]],
  [["runs", `--stor=${ADDRESS}`]],
  [["runs", "--store", ADDRESS]],
  [["runs", "--store", `postgres:/me:${SECRET}@h`]],
  [["runs", "--store", `lmdb:postgres:/me:${SECRET}@h`]],
  [["runs", "--store", `etcd://me:${SECRET}@h:x y`]],
  [["runs", "--tso", ADDRESS]],
  [["runs", "--tenant", ADDRESS]],
  [["shards", "--sort", ADDRESS]],
  [["shards", "--status", ADDRESS]],
  [["park", "1", "--reason", ADDRESS]],
  [["keys", "encode", `hex:${ADDRESS}`]],
  [["run", "--source", ADDRESS, "--exec", "true"]],
  [["run", "--source", `fs:${ADDRESS}`, "--exec", "true"]],
  [["run", "--source", `lines:${ADDRESS}`, "--exec", "true"]],
  [["run", "--source", `${ADDRESS}#t`, "--exec", "true"]],
  [["run", "--source", "lines:rows", "--module", ADDRESS]],
  [["run", "--source", "lines:rows", "--exec", "true", "--out", `${ADDRESS}/x`]],
  [["run", "--source", "lines:rows", "--exec", `true '${ADDRESS}`]],
])("%j is answered without the password", async (argv) => {
  for (const json of [[], ["--json"]]) {
    const { code, stdout, stderr } = await at([...argv, ...json]);
    expect(code).not.toBe(0);
    expect(stderr).not.toBe("");
    expect(stdout + stderr).not.toContain(SECRET);
  }
});

test("what the user's own data says is passed on as it is", async () => {
  writeFileSync(join(folder, "rows"), `${ADDRESS}\n`);
  const run = ["run", "--source", "lines:rows", "--exec", "echo {}"];
  expect((await at(run)).stdout).toBe(`${ADDRESS}\n`);
  expect((await at([...run, "--again", "--json"])).stdout).toContain(`"stdout":"${ADDRESS}\\n"`);
  const hex = Buffer.from(ADDRESS).toString("hex");
  expect((await at(["keys", "decode", `hex:${hex}`])).stdout).toContain(ADDRESS);
});
