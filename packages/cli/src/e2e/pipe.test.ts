// The whole command with processes in another language: what crashes must not lose items, and what is stopped goes on.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { gossipLine } from "../commands/command-line.fixture.ts";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip } from "../processes/gossip-process.fixture.ts";

const COUNT = 400;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-pipe-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: COUNT }, (_, n) => `${n}\n`).join(""));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

/** A worker in the shell: `body` knows the `id` and the `text` of its line. */
function worker(body: string): string {
  writeFileSync(
    join(folder, "worker.sh"),
    `while IFS= read -r line; do id=\${line#*:}; id=\${id%%,*}; text=\${line#*'"line":"'}; text=\${text%%'"'*}\n${body}\ndone`,
  );
  return "sh worker.sh";
}
const ANSWER = `echo "{\\"id\\":$id,\\"result\\":$text}"`;

const run = (command: string, ...more: string[]): string[] => [
  "run",
  ...`--source lines:rows --store store --out out.ndjson --workers 2 --shards 4 --lease 1 --retry-delay 0.01`.split(
    " ",
  ),
  "--pipe",
  command,
  ...more,
];

interface Row {
  readonly line: string;
  readonly ok: boolean;
  readonly result?: number;
  readonly error?: string;
}
const results = (file = "out.ndjson"): Row[] =>
  readFileSync(join(folder, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

test("an item that ends its process and one that hangs fail alone, are on record, and can be retried", async () => {
  const bad = worker(
    `case $text in 123) exit 9;; 77) sleep 60;; 99) echo "{\\"id\\":$id,\\"error\\":\\"no\\"}"; continue;; esac; ${ANSWER}`,
  );
  const { code, stderr } = await gossipLine(run(bad, "--timeout", "0.3", "--retries", "1"), { cwd: folder });
  expect([code, stderr]).toEqual([3, expect.stringMatching(/400 items, 3 of them failed/)]);
  expect(
    results()
      .map(({ line, ok }) => (ok ? "" : line))
      .filter((line) => line !== ""),
  ).toEqual(["77", "99", "123"]);
  expect(
    results()
      .filter(({ ok }) => !ok)
      .map(({ error }) => error),
  ).toEqual(["it took longer than 300 ms", "no", "its process ended (exit status 9)"]);
  worker(ANSWER);
  const retried = await gossipLine(["retry", "--store", "store"], { cwd: folder });
  expect([retried.code, retried.stderr]).toEqual([0, expect.stringContaining("has no failures any more")]);
  expect(results("out.ndjson.retry-1").map(({ result }) => result)).toEqual([77, 99, 123]);
});

test("a killed run goes on, and every result is there once", async () => {
  const slow = worker(`case $text in *7) sleep 0.02;; esac; [ "$text" = 250 ] && echo half >&2; ${ANSWER}`);
  const first = await startGossip(run(slow), { cwd: folder });
  await first.said(/half/);
  await first.kill();
  const { code } = await gossip(run(slow), { cwd: folder });
  expect(code).toBe(0);
  expect(results().map(({ result }) => result)).toEqual(Array.from({ length: COUNT }, (_, n) => n));
});

test("a command that cannot start ends the run with its last words", async () => {
  const { code, stderr } = await gossipLine(run("pythn3 worker.py"), { cwd: folder });
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/ends before it answers anything \(exit status 127: .*pythn3/),
  ]);
});

test("an item waits for a dependency that its process reports as down", async () => {
  const waits = worker(
    `case $text in 5) if [ ! -e tried ]; then touch tried; echo "{\\"id\\":$id,\\"error\\":{\\"message\\":\\"down\\",\\"class\\":\\"dependency\\"}}"; continue; fi;; esac; ${ANSWER}`,
  );
  const { code } = await gossipLine(run(waits, "--retries", "0"), { cwd: folder });
  expect([code, results().length]).toEqual([0, COUNT]);
});

test("the environment of a process has no credentials of the store", async () => {
  const env = worker(`echo "{\\"id\\":$id,\\"result\\":\\"$GOSSIP_STORE\${GOSSIP_TSO_TOKEN}\\"}"`);
  const secrets = { GOSSIP_STORE: "postgres://u:p@h/d", GOSSIP_TSO_TOKEN: "t" };
  const { code } = await gossipLine(run(env, "--limit", "3"), { cwd: folder, env: secrets });
  expect([code, results().map(({ result }) => result)]).toEqual([0, ["", "", ""]]);
});

test("a dry run prints the lines that processes would get, and starts none", async () => {
  const { code, stdout } = await gossipLine(run("touch started; cat", "--dry-run", "--limit", "2"), { cwd: folder });
  expect([code, stdout]).toEqual([0, '{"item":{"offset":0,"line":"0"}}\n{"item":{"offset":2,"line":"1"}}\n']);
  expect(() => readFileSync(join(folder, "started"))).toThrow();
});
