// What a person does with the main command: stop it, start it again, start it twice, give it a command that fails or a
// name with a newline. Each must end as promised, and say so.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type Ended } from "../processes/gossip-process.fixture.ts";
import { expectedSums, makeTree } from "./file-tree.fixture.ts";
import { readResults } from "./results.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-run-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

const run = (...args: string[]): Promise<Ended> => gossip(["run", ...args], { cwd: folder });
const lines = (name: string, count: number): void =>
  writeFileSync(join(folder, name), Array.from({ length: count }, (_, index) => `${index}\n`).join(""));
/** A command that prints its item. Beyond so many, all are held up until `letGo`: so nothing is over before a test has done what it wants to. */
const holdingAfter = (count: number): string =>
  `echo x >> begun; until [ -e go ] || ! [ "$(wc -l < begun)" -gt ${count} ]; do sleep 0.05; done; echo {}`;
const letGo = (): void => writeFileSync(join(folder, "go"), "");
const eventsOf = ({ stdout }: Ended): { kind: string; [field: string]: unknown }[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string });

describe("gossip run", () => {
  test("does every file once, and says so the second time", async () => {
    makeTree(join(folder, "data"), 100);
    const first = await run("--source", "fs:data", "--exec", "sha256sum < {}", "--out", "sums.ndjson");
    expect([first.code, first.stdout, first.stderr]).toEqual([
      0,
      "",
      expect.stringMatching(
        /^Run [0-9a-f]{16}: fs:.*\n(?:.*\n)*Done: 100 items, in .* Results are in .*sums\.ndjson\.\n$/,
      ),
    ]);
    const sums = new Map(
      [...readResults(join(folder, "sums.ndjson"))].map(([path, { stdout }]) => [path, stdout!.slice(0, 64)]),
    );
    expect(sums).toEqual(expectedSums(join(folder, "data")));
    expect(readdirSync(folder).toSorted()).toEqual([".gossip", "data", "sums.ndjson"]);

    const second = await run("--source", "fs:data", "--exec", "sha256sum < {}", "--out", "sums.ndjson");
    expect([second.code, second.stderr]).toEqual([0, "Done before: all 100 items; --again starts over.\n"]);
    const again = await run("--source", "fs:data", "--exec", "sha256sum < {}", "--out", "sums.ndjson", "--again");
    expect([again.code, readResults(join(folder, "sums.ndjson")).size]).toEqual([0, 100]);
  });

  test("leaves its own store and results out, where they lie among the files", async () => {
    mkdirSync(join(folder, "sub"));
    for (const name of ["a", "sub/b"]) writeFileSync(join(folder, name), name);
    const { code } = await run("--source", "fs:.", "--exec", "true", "--out", "sub/out.ndjson", "--store", "sub/store");
    expect(code).toBe(0);
    expect([...readResults(join(folder, "sub/out.ndjson")).keys()]).toEqual([join(folder, "a"), join(folder, "sub/b")]);
  });

  test("prints what commands print, where it has no --out", async () => {
    lines("three", 3);
    const { stdout, stderr, code } = await run("--source", "lines:three", "--exec", "echo got {}; echo why >&2");
    expect([code, stdout.trim().split("\n").toSorted()]).toEqual([0, ["got 0", "got 1", "got 2"]]);
    expect(stderr.match(/^why$/gm)).toHaveLength(3);
  });

  test("tells commands their run, shard and fence", async () => {
    lines("one", 1);
    const { stdout } = await run(
      "--source",
      "lines:one",
      "--exec",
      ": {}; echo $GOSSIP_RUN $GOSSIP_SHARD $GOSSIP_FENCE",
    );
    expect(stdout).toMatch(/^[0-9a-f]{16} 0000000000000001 [0-9a-f]{16}\n$/);
  });

  test("goes on after Ctrl-C, which lets what is under way finish, and says what it skipped", async () => {
    lines("rows", 60);
    const args = [
      "--source",
      "lines:rows",
      "--exec",
      holdingAfter(30),
      "--out",
      "out.ndjson",
      "--workers",
      "2",
      "--shards",
      "4",
      "--json",
    ];
    const first = await startGossip(["run", ...args], { cwd: folder });
    expect(await first.heard(/"kind":"progress".*"items":[1-9]/)).toBe(true);
    first.signal("SIGINT");
    expect(await first.heard(/"kind":"stopping"/)).toBe(true);
    letGo();
    const stopped = await first.ended;
    expect([stopped.code, stopped.signal]).toEqual([130, null]);
    expect(eventsOf(stopped).map(({ kind }) => kind)).toContain("stopped");

    const second = await run(...args);
    const [started] = eventsOf(second);
    const finished = eventsOf(second).at(-1)!;
    expect(started).toMatchObject({ kind: "started", isNew: false });
    expect(started!["skipped"]).toBeGreaterThan(0);
    // Given back, not left to lapse: there was nothing to wait for.
    expect(started!["message"]).not.toContain("lease");
    expect([second.code, finished]).toEqual([
      0,
      expect.objectContaining({ kind: "finished", items: 60, failed: 0, skipped: started!["skipped"] }),
    ]);
    const results = readFileSync(join(folder, "out.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { line: string }).line);
    expect(results).toEqual(Array.from({ length: 60 }, (_, index) => String(index)));
  });

  test("goes on after kill -9, says what it waits for, and loses and doubles nothing", async () => {
    lines("rows", 160);
    // Long enough for the second to be there before the leases end, also on a busy machine.
    const args = [
      "--source",
      "lines:rows",
      "--exec",
      holdingAfter(80),
      "--out",
      "out.ndjson",
      "--workers",
      "2",
      "--shards",
      "2",
      "--lease",
      "10",
      "--json",
    ];
    const first = await startGossip(["run", ...args], { cwd: folder });
    expect(await first.heard(/"kind":"progress".*"items":[1-9]/)).toBe(true);
    await first.kill();
    letGo();
    const second = await run(...args);
    const events = eventsOf(second);
    expect(events[0]!["message"]).toMatch(
      /goes on: \d+ items? skipped, done before; .* shards? held by other workers, or by a killed one until its lease ends$/,
    );
    expect(events.some(({ kind, waitMs }) => kind === "progress" && typeof waitMs === "number")).toBe(true);
    expect([second.code, events.at(-1)]).toEqual([
      0,
      expect.objectContaining({ kind: "finished", items: 160, failed: 0 }),
    ]);
    expect(
      readFileSync(join(folder, "out.ndjson"), "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { line: string }).line),
    ).toEqual(Array.from({ length: 160 }, (_, index) => String(index)));
  });

  test("a module that keeps the process busy keeps its leases, and is reported", async () => {
    lines("rows", 2);
    // Twice as long as a lease, and that long enough for a thread that has to wait for its turn.
    writeFileSync(
      join(folder, "job.mjs"),
      "export default ({ line }) => { const until = Date.now() + (line === '0' ? 8000 : 0); while (Date.now() < until); };",
    );
    const ended = await run(
      "--source",
      "lines:rows",
      "--module",
      "./job.mjs",
      "--workers",
      "1",
      "--shards",
      "1",
      "--lease",
      "4",
      "--json",
      "--log-format",
      "json",
    );
    const kinds = eventsOf(ended).map(({ kind }) => kind);
    // The lines of the thread that watches are lines of the log, too.
    const logged = ended.log.trimEnd().split("\n");
    expect(logged.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        level: "warn",
        kind: "blocked",
        worker: expect.stringMatching(/^[0-9a-f]{16}$/),
        message: expect.stringMatching(/^row:0\/0 has kept this process busy for \d+ s\.$/),
      }),
    );
    expect([ended.code, kinds.includes("blocked"), kinds.includes("lost"), kinds.includes("keeperFailed")]).toEqual([
      0,
      true,
      false,
      false,
    ]);
    expect(eventsOf(ended).at(-1)).toMatchObject({ kind: "finished", items: 2, ownItems: 2 });
  });

  test("stops at once on the second Ctrl-C, with the commands it started", async () => {
    lines("rows", 4);
    const running = await startGossip(
      ["run", "--source", "lines:rows", "--exec", "echo $$ > pid; : {}; sleep 1000", "--workers", "1", "--json"],
      { cwd: folder },
    );
    // A shard in its hands does not say that its command has begun.
    const pid = (): string => (existsSync(join(folder, "pid")) ? readFileSync(join(folder, "pid"), "utf8") : "");
    await expect.poll(pid, { timeout: 60_000 }).toMatch(/^\d+\n$/);
    running.signal("SIGINT");
    expect(await running.heard(/"kind":"stopping"/)).toBe(true);
    running.signal("SIGINT");
    expect((await running.ended).code).toBe(130);
    await untilGone(Number(pid()));
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s lets items finish, and ends with %i", async (signal, code) => {
    lines("rows", 4);
    const running = await startGossip(
      ["run", "--source", "lines:rows", "--exec", ": {}; sleep 1000", "--workers", "1", "--grace", "0", "--json"],
      { cwd: folder },
    );
    expect(await running.heard(/"kind":"progress".*"held":1/)).toBe(true);
    running.signal(signal);
    const ended = await running.ended;
    expect([ended.code, eventsOf(ended).at(-1)]).toEqual([code, expect.objectContaining({ kind: "stopped" })]);
  });

  test("several processes join one run, each does a part, and all end together", async () => {
    lines("rows", 300);
    // An item waits until every process has one, so each process does a part however quick the others are. `$PPID` is
    // the process that started the shell.
    const all = 'touch "begun-$PPID"; until [ "$(ls begun-* | wc -l)" -ge 4 ]; do sleep 0.05; done; echo {}';
    const work = ["--workers", "1", "--shards", "1", "--json"];
    const args = ["run", "--source", "lines:rows", "--exec", all, "--out", "out.ndjson", ...work];
    const running = await Promise.all([1, 2, 3, 4].map(() => startGossip(args, { cwd: folder })));
    const ended = await Promise.all(running.map((each) => each.ended));
    for (const each of ended) {
      expect([each.code, eventsOf(each).at(-1)]).toEqual([
        0,
        expect.objectContaining({ kind: "finished", items: 300 }),
      ]);
      // There was one shard, so the others got a part of it by splits.
      expect(eventsOf(each).at(-1)!["ownItems"]).toBeGreaterThan(0);
    }
    expect(ended.filter((each) => eventsOf(each)[0]!["isNew"] === true)).toHaveLength(1);
    expect(readFileSync(join(folder, "out.ndjson"), "utf8").trim().split("\n")).toHaveLength(300);
  });

  test("a module does the work, whether it waits or not, and what it throws is a failure", async () => {
    lines("rows", 20);
    writeFileSync(
      join(folder, "job.mjs"),
      "import { writeFileSync } from 'node:fs'; setInterval(() => {}, 1e9); export const close = async () => writeFileSync('closed', ''); export default function ({ line }, { attempt, fence }) { if (line === '7') throw new Error('seven'); if (line === '8' && attempt === 1) return Promise.reject(new Error('later')); return line % 2 ? { line, fence: typeof fence } : Promise.resolve(line); }",
    );
    const { code, stdout } = await run(
      "--source",
      "lines:rows",
      "--module",
      "./job.mjs",
      "--out",
      "out.ndjson",
      "--json",
    );
    expect([code, JSON.parse(stdout.trim().split("\n").at(-1)!)]).toEqual([
      3,
      expect.objectContaining({ kind: "finished", items: 20, failed: 1 }),
    ]);
    const results = readFileSync(join(folder, "out.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    // What the module left open does not keep the command.
    expect(existsSync(join(folder, "closed"))).toBe(true);
    expect(results[7]).toEqual({ offset: 14, line: "7", ok: false, error: "seven" });
    expect([results[8], results[9]]).toEqual([
      { offset: 16, line: "8", ok: true, result: "8" },
      { offset: 18, line: "9", ok: true, result: { line: "9", fence: "bigint" } },
    ]);
  });
});

/** Gone, or a zombie that its new parent has not reaped yet. */
async function untilGone(pid: number): Promise<void> {
  while (!/^(Z.*)?$/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim()))
    await new Promise((resolve) => setImmediate(resolve));
}
