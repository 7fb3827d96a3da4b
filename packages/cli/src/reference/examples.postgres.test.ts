// People copy the examples of `--help` and of docs/reference/cli.md. One that is refused teaches that the page is not to be
// trusted. So every one runs here, in a scene that it fits, on a real PostgreSQL and with a real timestamp oracle.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { etcdSkipped, startEtcd, startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { MemoryDriver, OracleServer } from "@gossip/tso-server";
import { unwrap } from "@gossip/stdx";
import type { Command } from "commander";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { descriptionOf } from "../cli.ts";
import { gossipLine, type Said } from "../commands/command-line.fixture.ts";
import { query } from "../e2e/newer-version.fixture.ts";
import { makeProgram } from "../main.ts";
import { silentCli } from "./cli-page.fixture.ts";

/** The third of four shards holds `logs/2025/a` to `logs/2027/b`. */
const TREE = ["a", "b", "c", "logs/2024/a", "logs/2025/a", "logs/2027/b", "y", "z"];
const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(TREE.map((name) => [`data/${name}`, `${name}\n`])),
  names: "data/a\0data/b\0",
  "urls.txt": "http://pages.internal/1\nhttp://pages.internal/2\n",
  "tokens.json": JSON.stringify({
    version: 1,
    tokens: [{ id: "1a2b3c4d", name: "", hash: "0".repeat(64), role: "work", tenants: "*", createdAtMs: 1 }],
  }),
  "words.txt": "one\ntwo\n",
  "worker.py":
    'import json, sys\nfor line in sys.stdin:\n    print(json.dumps({"id": json.loads(line)["id"], "result": 1}), flush=True)\n',
  "backfill.mjs": "export default ({ row }) => row.id;\n",
};

let folder: string;
let postgres: PostgresServer;
let oracle: OracleServer;

beforeAll(async () => {
  postgres = await startPostgres({ settings: { fsync: "off" } });
  query(postgres.url, "CREATE TABLE orders (id integer PRIMARY KEY); INSERT INTO orders VALUES (1), (2), (3)");
  oracle = unwrap(await OracleServer.start({ driver: new MemoryDriver(), listen: [{ port: 0 }] }));
});
afterAll(async () => {
  unwrap(await oracle.shutdown());
  await postgres.dispose();
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "gossip-examples-"));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What an example needs in the store before it runs. */
type Scene = "Empty" | "Parked" | "Active" | "Cancelled" | "Failed";

const SCENES: Readonly<Record<string, Scene>> = {
  run: "Empty",
  keys: "Empty",
  tso: "Empty",
  serve: "Empty",
  token: "Empty",
  unpark: "Parked",
  delete: "Cancelled",
  retry: "Failed",
  completion: "Empty",
};

interface Example {
  readonly line: string;
  readonly scene: Scene;
}

function examplesOf(command: Command): Example[] {
  const scene: Scene =
    SCENES[command.name()] ?? (command.parent === null ? "Active" : (SCENES[command.parent.name()] ?? "Active"));
  const own = (descriptionOf(command)?.examples ?? []).map((line) => ({ line, scene }));
  return [...own, ...command.commands.filter((each) => each.name() !== "help").flatMap(examplesOf)];
}

/** These need two nodes and a move in progress. `commands/serve.test.ts` runs them. */
const NEEDS_CLUSTER = /^gossip scope (?!token )/;

const EXAMPLES = examplesOf(makeProgram(silentCli())).filter(({ line }) => !NEEDS_CLUSTER.test(line));

test("the examples include those of commands within commands", () => {
  const commands = EXAMPLES.map(({ line }) => line.split(" ").slice(1, 3).join(" "));
  expect(commands).toEqual(expect.arrayContaining(["run --source", "status nightly", "keys encode", "tso serve"]));
});

let storeCount = 0;

test.for(EXAMPLES)("$line", async ({ line, scene }, context) => {
  const skipped = line.includes("--etcd") ? etcdSkipped() : undefined;
  if (skipped !== undefined) context.skip(skipped);
  const store = line.includes("//db.internal/gossip") ? withSchema(`example_${storeCount++}`) : join(folder, ".gossip");
  const before = line.includes("cancel 4f2a && ") ? "Active" : scene;
  await setScene(before, { store, name: line.includes("4f2a") ? "4f2a" : "nightly" });
  const etcd = line.includes("--etcd") ? await startEtcd() : undefined;
  onTestFinished(async () => etcd?.dispose());

  const runnable = line
    .replaceAll("postgres://db.internal/gossip", store)
    .replaceAll("postgres://db.internal/shop", postgres.url)
    .replaceAll("/var/lib/gossip", store)
    .replaceAll("fs:/data", "fs:data")
    .replaceAll("tso-1.internal:50551", oracle.addresses[0]!.toString())
    .replaceAll(/http:\/\/[\w.-]+:2379/g, etcd?.endpoint ?? "")
    // Ports of this machine that are free, and a shard that exists.
    .replace(/^gossip tso serve.*/, (serve) => `${serve.replace(/ --listen \S+/, "")} --listen 127.0.0.1:0 --http off`)
    .replace(/^gossip serve.*/, (serve) => `${serve.replace(/ --listen \S+/, "")} --listen 127.0.0.1:0`)
    .replace(/^gossip console.*/, (page) => `${page.replace(/ --listen \S+/, "")} --listen 127.0.0.1:0`)
    .replace(/^gossip tso get$/, `gossip tso get --tso ${oracle.addresses[0]!.toString()}`)
    .replaceAll("8f3a90c1d2e4b765", "0000000000000003")
    // Programs that this machine may not have.
    .replace("curl -sf {}", "echo {}")
    .replace(/ \| jq .*/, "")
    // What a shell does with the input and the output.
    .replace(/^find .* \| (gossip .*) list:- -0 .*$/, `$1 list:names -0 --exec 'cat {}'`)
    .replace(/^(?:autoload .* && )?source <\((.*)\)$/, "$1")
    .replace(/ > ~.*/, "");
  for (const command of runnable.split(" && ")) {
    const { code, stderr } = await carryOut(command);
    expect([command, code, stderr]).toEqual([command, 0, expect.any(String)]);
  }
});

function withSchema(schema: string): string {
  return `${postgres.url}?schema=${schema}`;
}

async function setScene(
  scene: Scene,
  { store, name }: { readonly store: string; readonly name: string },
): Promise<void> {
  if (scene === "Empty") return;
  const at = ["--store", store];
  if (scene === "Failed") {
    const failing = ["--exec", ": {}; test -e fixed", "--retries", "0"];
    expect((await run(["run", name, "--source", "fs:data", ...failing, ...at])).code).toBe(3);
    writeFileSync(join(folder, "fixed"), "");
    return;
  }
  const parked = ["--on-fail", "park", "--retries", "0", "--shards", "4", "--workers", "1"];
  expect((await run(["run", name, "--source", "fs:data", "--exec", "false", ...parked, ...at])).code).toBe(3);
  if (scene === "Active") expect((await run(["unpark", "--all", ...at])).code).toBe(0);
  if (scene === "Cancelled") expect((await run(["cancel", name, ...at])).code).toBe(0);
}

/** A command that runs until it is stopped is stopped at its first line, and then must end well. */
async function carryOut(command: string): Promise<Said> {
  const argv = argumentsOf(command);
  const isEndless =
    argv.includes("--watch") || argv.includes("--follow") || argv.includes("serve") || argv[0] === "console";
  if (!isEndless) return run(argv);
  let send: ((name: string) => void) | undefined;
  let isStopped = false;
  const said = await gossipLine(argv, {
    cwd: folder,
    onListening: (sender) => void (send = sender),
    onLine: () => {
      // A second one would end the process at once.
      if (send === undefined || isStopped) return;
      isStopped = true;
      send("SIGINT");
    },
  });
  return { ...said, code: said.code === 130 ? 0 : said.code };
}

function run(argv: readonly string[]): Promise<Said> {
  return gossipLine(argv, { cwd: folder });
}

function argumentsOf(command: string): string[] {
  const words = [...command.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ""));
  expect(words.shift()).toBe("gossip");
  return words;
}
