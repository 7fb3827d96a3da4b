// A database goes away at the worst moment: the command must end with a sentence, and the same command must go on where it
// was when the database is back.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { expectClockChecks } from "./clock-skew.fixture.ts";
import { gossip, startGossip } from "../processes/gossip-process.fixture.ts";
import { query, raiseSchemaVersion } from "./newer-version.fixture.ts";

let server: PostgresServer;
let folder: string;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server?.dispose();
  await removeGossipScript();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-bad-postgres-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("PostgreSQL", () => {
  test("commands that only look make no tables", async () => {
    const { code, stderr } = await gossip(["runs", "--store", server.url], { cwd: folder });
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^gossip: there is no store in PostgreSQL at .*: start a run first, .*\.\n$/),
    ]);
  });

  test.each([
    ["status", 2],
    ["run --source lines:rows --exec true", 2],
    ["store migrate", 2],
    ["doctor", 8],
  ] as const)(
    "a port that is not one ends `%s` with %i and a sentence that does not show the password",
    async (command, expected) => {
      writeFileSync(join(folder, "rows"), "1\n");
      const store = "postgres://ann:hunter2@127.0.0.1/jobs?port=x";
      const args = [...command.split(" "), "--store", store];
      const { code, stdout, stderr } = await gossip(args, { cwd: folder });
      expect(stdout + stderr).toContain("the port of the URL is not a number from 1 to 65535");
      expect(stdout + stderr).not.toContain("hunter2");
      expect(code).toBe(expected);
    },
  );

  test("`store migrate` creates the tables, migrates older ones, and leaves current ones alone", async () => {
    const store = `${server.url}?schema=migrated`;
    const migrate = async () => {
      const { code, stdout, stderr } = await gossip(["store", "migrate", "--store", store, "--json"], { cwd: folder });
      return [code, JSON.parse(stdout || stderr)] as const;
    };
    const [created, first] = await migrate();
    expect([created, first]).toMatchObject([0, { kind: "migrated", from: 0 }]);
    const { to } = first as { readonly to: number };
    expect(await migrate()).toMatchObject([0, { kind: "current", from: to, to }]);
    query(server.url, `DELETE FROM migrated.migrations WHERE version > 1`);
    expect((await gossip(["status", "--store", store], { cwd: folder })).stderr).toMatch(
      /^gossip: PostgreSQL at .* cannot be opened: the tables have version 1 and must be brought to \d+; run `gossip store migrate --store [^`]+` once\.\n$/,
    );
  });

  test("as a source that no run can begin with, it says what is wrong and what to correct", async () => {
    query(server.url, "CREATE TABLE shelf (id int PRIMARY KEY)");
    const table = `${server.url}#shelf`;
    const options = "correct --source, or the options that belong to it, then try again.";
    for (const [args, message] of [
      [[table, "--columns", "id,titel"], `the table public.shelf has no column titel: ${options}`],
      [
        [table, "--where", "id >"],
        `the condition for the rows of public.shelf is not a valid SQL condition: ${options}`,
      ],
      [[`${server.url}#shelves`], `there is no table public.shelves: ${options}`],
      [
        ["postgres://ann@127.0.0.1:1/jobs#shelf"],
        "the database cannot be reached (ECONNREFUSED): check the source, or correct --source, then try again.",
      ],
    ] as const)
      for (const dry of [[], ["--dry-run"]]) {
        const run = ["run", "--source", ...args, "--exec", "true", ...dry];
        const { code, stderr } = await gossip(run, { cwd: folder });
        expect([code, stderr]).toEqual([6, `gossip: ${message}\n`]);
      }
  });

  test("one that dies while the work goes on ends it with a sentence, and nothing is lost", async () => {
    writeFileSync(join(folder, "rows"), Array.from({ length: 200 }, (_, index) => `${index}\n`).join(""));
    // The second half waits: it is not over before the server is.
    const args = [
      "run",
      "--source",
      "lines:rows",
      "--exec",
      'echo x >> begun; until [ -e go ] || ! [ "$(wc -l < begun)" -gt 100 ]; do sleep 0.05; done; echo {}',
      "--out",
      "out.ndjson",
      "--store",
      server.url,
      "--lease",
      "2",
      "--workers",
      "2",
      "--patience",
      "1",
      "--json",
    ];
    const running = await startGossip(args, { cwd: folder });
    expect(await running.heard(/"kind":"progress".*"items":[1-9]/)).toBe(true);
    await server.kill();
    writeFileSync(join(folder, "go"), "");
    const { code, stderr } = await running.ended;
    expect([code, JSON.parse(stderr)]).toEqual([
      7,
      {
        error: {
          kind: "StoreFailed",
          message: expect.stringMatching(
            /^the store failed .*: see that it is up, then run the same command again; nothing was lost\.$/,
          ) as string,
          exitCode: 7,
        },
      },
    ]);
    expect(stderr).not.toContain("gossip-test");
    await server.restart();
    const again = await gossip(args, { cwd: folder });
    expect([again.code, JSON.parse(again.stdout.trim().split("\n").at(-1)!)]).toEqual([
      0,
      expect.objectContaining({ kind: "finished", items: 200, failed: 0 }),
    ]);
    const lines = readFileSync(join(folder, "out.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { line: string }).line);
    expect(lines).toEqual(Array.from({ length: 200 }, (_, index) => String(index)));
  });

  test("a wrong password, a missing database and a missing table have different messages, and none shows the password", async () => {
    const at = (url: string, source = "lines:rows") =>
      gossip(["run", "--source", source, "--exec", "true", "--store", url], { cwd: folder });
    writeFileSync(join(folder, "rows"), "x\n");
    const wrong = new URL(server.url);
    wrong.password = "hunter2";
    const missing = new URL(server.url);
    missing.pathname = "/nowhere";
    const [denied, none, table] = [
      await at(wrong.href),
      await at(missing.href),
      await at(server.url, `${server.url}#nothing`),
    ];
    expect([denied.code, denied.stderr]).toEqual([
      7,
      expect.stringMatching(
        /^gossip: PostgreSQL at .* cannot be opened: the server refuses the login \(28P01\); .*\.\n$/,
      ),
    ]);
    expect([none.code, none.stderr]).toEqual([
      7,
      expect.stringMatching(
        /^gossip: PostgreSQL at .*\/nowhere cannot be opened: the server has no such database; .*\.\n$/,
      ),
    ]);
    expect([table.code, table.stderr]).toEqual([6, expect.stringMatching(/^gossip: .*nothing.*\.\n$/)]);
    for (const { stderr } of [denied, none, table]) expect(stderr).not.toMatch(/hunter2|gossip-test/);
  });

  test("every row of a table is an item, by its primary key", async () => {
    query(
      server.url,
      'CREATE TABLE public.orders (region text COLLATE "C", id bigint, note text, raw bytea, PRIMARY KEY (region, id))',
    );
    query(
      server.url,
      "INSERT INTO public.orders SELECT CASE WHEN n % 2 = 0 THEN 'eu' ELSE 'us' END, n, 'it''s ' || n, '\\x00ff' FROM generate_series(1, 50) n",
    );
    const { code, stderr } = await gossip(
      ["run", "--source", `${server.url}#orders`, "--exec", "printf %s {}", "--out", "out.ndjson"],
      { cwd: folder },
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining("Done: 50 items")]);
    const results = readFileSync(join(folder, "out.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { key: unknown; stdout: string });
    expect(results).toHaveLength(50);
    expect(results[0]).toEqual({
      key: ["eu", 2],
      ok: true,
      status: 0,
      stdout: JSON.stringify({ region: "eu", id: "2", note: "it's 2", raw: "\\x00ff" }),
    });
    expect(JSON.parse((await gossip(["runs", "--json"], { cwd: folder })).stdout)).toMatchObject({
      source: expect.stringMatching(/^postgres:127\.0\.0\.1:\d+\/postgres#public\.orders$/) as string,
    });
  });

  test("a clock that is wrong is warned about, refused, and explained by doctor", async () => {
    await expectClockChecks(folder, `${server.url}?schema=clock`);
  });

  test("another key, a condition, some columns, and a name that needs quotes", async () => {
    query(server.url, 'CREATE TABLE public."My Orders" (id bigint PRIMARY KEY, code uuid NOT NULL UNIQUE, n int)');
    query(
      server.url,
      "INSERT INTO public.\"My Orders\" SELECT n, ('00000000-0000-0000-0000-0000000000' || (99 - n))::uuid, n FROM generate_series(1, 20) n",
    );
    const choice = ["--key", "code", "--where", "n > 15", "--columns", "id,n"];
    const source = `${server.url}#"My Orders"`;
    const { code, stderr } = await gossip(
      ["run", "--source", source, ...choice, "--exec", "printf %s {}", "--out", "mine.ndjson"],
      { cwd: folder },
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining("Done: 5 items")]);
    const results = readFileSync(join(folder, "mine.ndjson"), "utf8").trim().split("\n");
    expect(results.map((line) => (JSON.parse(line) as { stdout: string }).stdout)).toEqual(
      [20, 19, 18, 17, 16].map((n) => JSON.stringify({ id: String(n), n })),
    );
  });

  test("rows with dates and numerics in their key are named as in SQL", async () => {
    query(server.url, "CREATE TABLE public.rates (day date, rate numeric(9,2), PRIMARY KEY (day, rate))");
    query(server.url, "INSERT INTO public.rates SELECT '1999-12-30'::date + n, n * 1.25 FROM generate_series(0, 3) n");
    const work = ["--exec", "case {} in *2.50*) exit 1;; esac", "--retries", "0", "--out", "rates.ndjson"];
    const ended = await gossip(["run", "--source", `${server.url}#rates`, ...work], { cwd: folder });
    expect(ended.code).toBe(3);
    const results = readFileSync(join(folder, "rates.ndjson"), "utf8").trim().split("\n");
    expect(results.map((line) => (JSON.parse(line) as { key: unknown }).key)).toEqual([
      ["1999-12-30", "0"],
      ["1999-12-31", "1.25"],
      ["2000-01-01", "2.5"],
      ["2000-01-02", "3.75"],
    ]);
    expect((await gossip(["failures"], { cwd: folder })).stdout).toMatch(/ tuple:\[10957,.*\] \(2000-01-01, 2\.5\) /);
    const listed = (await gossip(["failures", "--json"], { cwd: folder })).stdout;
    expect(JSON.parse(listed)).toMatchObject({ columns: "(2000-01-01, 2.5)" });
    expect((await gossip(["shards"], { cwd: folder })).stdout).toContain("(2000-01-02, 3.75)");
  });

  test("tables of a newer version are left as they are", async () => {
    writeFileSync(join(folder, "rows"), "x\n");
    raiseSchemaVersion(server.url);
    const { code, stderr } = await gossip(["run", "--source", "lines:rows", "--exec", "true", "--store", server.url], {
      cwd: folder,
    });
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(
        /^gossip: PostgreSQL at .* cannot be opened: the tables have version 99, .*; use the newer version that made them\.\n$/,
      ),
    ]);
  });
});
