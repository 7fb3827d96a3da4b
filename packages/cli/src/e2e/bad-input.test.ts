// What goes wrong for people on their first day, and at night. Each must be one sentence that says what to do, and a code that a
// script can tell apart; never a stack, never a password, and nothing lost.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { freePort } from "@gossip/tools/engines";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { gossipLine } from "../commands/command-line.fixture.ts";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip, startGossip, type Ended } from "../processes/gossip-process.fixture.ts";
import { raiseFolderFormat } from "./newer-version.fixture.ts";

const NOBODY = 65_534;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-bad-"));
  mkdirSync(join(folder, "data"));
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, "data", name), name);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

const at = (...args: string[]): Promise<Ended> => gossip(args, { cwd: folder });
const run = (...args: string[]): Promise<Ended> => at("run", ...args);

/** One sentence, with a way on, and no trace of the program's inside. */
function expectSentence(ended: Pick<Ended, "code" | "stderr">, code: number, words: RegExp): void {
  expect([ended.stderr, ended.code]).toEqual([expect.stringMatching(words), code]);
  expect(ended.stderr).toMatch(/^gossip: [^\n]+: [^\n]+\.\n$/);
  expect(ended.stderr).not.toMatch(/^\s+at |\.(ts|mjs|js):\d/m);
}

describe("the command line", () => {
  test.each([
    [["frob"], /unknown command 'frob'/],
    [["run"], /--source/],
    [["run", "--source", "fs:data"], /needs --exec COMMAND, --module FILE or --pipe COMMAND/],
    [
      ["run", "--source", "fs:data", "--exec", "true", "--module", "m.mjs"],
      /needs --exec COMMAND, --module FILE or --pipe COMMAND/,
    ],
    [["run", "--source", "ftp:x", "--exec", "true"], /--source is not of a known kind/],
    [["run", "--source", "fs:", "--exec", "true"], /names nothing/],
    [["run", "--source", "fs:data", "--exec", " "], /--exec is empty/],
    [["run", "--source", "fs:data", "--exec", "echo '{}'"], /write \{\} without quotes/],
    [["run", "--source", "fs:data", "--exec", "true;"], /has no \{\}, .*: write \{\} where the item goes/],
    [["run", "--source", "fs:data", "--exec", "if then {}"], /the shell cannot read the command/],
    [
      ["run", "--source", "fs:data", "--exec", "true", "--workers", "0"],
      /--workers is not a whole number from 1 to 256/,
    ],
    [["run", "--source", "fs:data", "--exec", "true", "--lease", "soon"], /--lease is not a number of seconds/],
    [["run", "--source", "fs:data", "--exec", "true", "--on-fail", "explode"], /on-fail/],
    [["run", "--source", "fs:data", "--exec", "true", "--store", "mysql://x"], /no address of a known kind/],
    [
      ["run", "--source", "fs:data", "--exec", "true", "--store", "postgres:/u:pw@h"],
      /PostgreSQL URL .* cannot be read/,
    ],
    [["run", "--source", "fs:data", "--exec", "true", "--store", "etcd:u:pw@h"], /etcd address .* cannot be read/],
    [["run", "--source", "fs:data", "--exec", "true", "--store", "//u:pw@h/d"], /no address of a known kind/],
    [["run", "--source", "fs:data", "--exec", "true", "--store", "u:pw@h/d"], /no address of a known kind/],
    [["run", "--source", "fs:data", "--exec", "true", "--tenant", "me"], /--tenant/],
    [["run", "--source", "fs:data", "--module", "./missing.mjs"], /there is no module .\/missing.mjs/],
    [["run", "--source", "postgres://h/d", "--exec", "true"], /names no table/],
    [["shards", "--sort", "color"], /--sort knows no "color"/],
    [["shards", "--status", "Sleeping"], /no shard is ever "Sleeping"/],
    [["unpark"], /either a shard or --all/],
    [["keys", "encode", "hex:0"], /hexadecimal/],
    [["keys", "encode", 'tuple:[{"integer":"1#"}]'], /is not a JSON array/],
    [["keys", "split", "hex:00", "hex:ff", "--parts", "0x10"], /--parts is not a whole number from 2 to 10000/],
    ...["", "0x10", " 7 ", "-1", "1e1", "0", "9".repeat(30)].map((text): [string[], RegExp] => [
      ["shards", "--limit", text],
      /--limit is not a whole number/,
    ]),
    ...["", "0x10", " 7 ", "-1", "1e1", "0", "Infinity", "86401"].flatMap((text): [string[], RegExp][] => [
      [["events", "--every", text], /--every is not a number of seconds from 0.1 to 86400/],
      ...(text === ""
        ? []
        : [[["shards", `--watch=${text}`], /--watch is not a number of seconds/] as [string[], RegExp]]),
    ]),
    [["tso", "serve"], /either --data FOLDER or --etcd URL/],
  ])("%j", async (args, words) => {
    expectSentence(await gossipLine(args, { cwd: folder }), 2, words);
    expect(existsSync(join(folder, ".gossip"))).toBe(false);
  });

  test("says it in JSON where JSON was asked for", async () => {
    const { stderr, code } = await at("run", "--source", "fs:nowhere", "--exec", "true", "--json");
    expect([code, JSON.parse(stderr)]).toEqual([
      6,
      {
        error: { kind: "SourceMissing", message: expect.stringContaining("there is no folder") as string, exitCode: 6 },
      },
    ]);
  });

  test("a module that exports nothing to call, or cannot be loaded, says so", async () => {
    writeFileSync(join(folder, "empty.mjs"), "export const x = 1;");
    expectSentence(await run("--source", "fs:data", "--module", "empty.mjs"), 2, /exports no function/);
    writeFileSync(join(folder, "broken.mjs"), "export default function (");
    expectSentence(await run("--source", "fs:data", "--module", "broken.mjs"), 2, /cannot be loaded/);
  });

  test("a module that imports what is missing names it, and one that needs a compiler says so", async () => {
    const withModule = (name: string, text: string): Promise<Ended> => {
      writeFileSync(join(folder, name), text);
      return run("--source", "fs:data", "--module", name);
    };
    const job = "export default () => {};";
    expectSentence(
      await withModule("package.mjs", `import "left-pad-nowhere"; ${job}`),
      2,
      /cannot be loaded: "left-pad-nowhere", which .*package\.mjs imports, is missing; install it/,
    );
    expectSentence(
      await withModule("file.mjs", `import "./nowhere.mjs"; ${job}`),
      2,
      /".*nowhere\.mjs", which .*file\.mjs imports, is missing/,
    );
    expectSentence(await withModule("job.tsx", job), 2, /has to be compiled/);
    const typed = await withModule("job.ts", "export default (item: { path: string }): string => item.path;");
    if ("typescript" in process.features && process.features.typescript !== false) expect(typed.code).toBe(0);
    else expectSentence(typed, 2, /Node .* cannot load job\.ts, which is TypeScript: use Node 22\.18 or later/);
  });
});

describe("the source", () => {
  test("a folder that is not there", async () => {
    expectSentence(await run("--source", "fs:nowhere", "--exec", "true"), 6, /there is no folder .*nowhere/);
  });

  test("a file where a folder should be, and the other way round", async () => {
    expectSentence(await run("--source", "fs:data/a", "--exec", "true"), 6, /is not a folder/);
    expectSentence(await run("--source", "lines:data", "--exec", "true"), 6, /is not a file/);
    expectSentence(await run("--source", "lines:data/none", "--exec", "true"), 6, /there is no file/);
  });

  test("a folder that cannot be read is reported, the rest is processed, and the summary counts it", async () => {
    const isRoot = process.getuid?.() === 0;
    chmodSync(folder, 0o777);
    mkdirSync(join(folder, "data/closed"), { mode: 0o700 });
    if (!isRoot) chmodSync(join(folder, "data/closed"), 0);
    const as = { cwd: folder, ...(isRoot ? { uid: NOBODY } : {}) };
    const ended = await gossip(["run", "--source", "fs:data", "--exec", "true"], as);
    const again = await gossip(["run", "--source", "fs:data", "--exec", "true"], as);
    const status = await gossip(["status", "--json"], as);
    if (!isRoot) chmodSync(join(folder, "data/closed"), 0o700);
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/passed over closed.*\n(?:.*\n)*Done: 3 items, 1 could not be read/),
    ]);
    expect([again.code, again.stderr]).toEqual([
      3,
      expect.stringMatching(
        /^Done before: 3 items, 1 could not be read; --again starts over\. `gossip failures [0-9a-f]{16}` lists/,
      ),
    ]);
    expect(JSON.parse(status.stdout)).toMatchObject({ status: "Done", items: 3, failed: 0, unreadable: 1 });
  });

  test("a line that is too long is still known after kill -9, and every time after that", async () => {
    writeFileSync(join(folder, "rows"), `${"x".repeat(2 ** 20 + 1)}\n1\n2\n`);
    const command = "until [ -e go ]; do sleep 0.05; done; : {}";
    const args = ["--source", "lines:rows", "--exec", command, "--workers", "1", "--shards", "1", "--lease", "1"];
    const first = await startGossip(["run", ...args, "--json"], { cwd: folder });
    expect(await first.heard(/"kind":"progress".*"items":0.*"unreadable":1/)).toBe(true);
    await first.kill();
    writeFileSync(join(folder, "go"), "");
    const second = await run(...args);
    expect([second.code, second.stderr]).toEqual([
      3,
      expect.stringMatching(
        /goes on: 0 items skipped, done before, 1 could not be read; (?:.*\n)*Done: 2 items, 1 could not be read/,
      ),
    ]);
    const third = await run(...args);
    expect([third.code, third.stderr]).toEqual([
      3,
      expect.stringMatching(
        /^Done before: 2 items, 1 could not be read; --again starts over\. `gossip failures [0-9a-f]{16}` lists/,
      ),
    ]);
  });

  test("a file that became shorter sets aside what is not there any more, and says why", async () => {
    writeFileSync(join(folder, "lines"), "line\n".repeat(100));
    const args = [
      "--source",
      "lines:lines",
      "--exec",
      ": {}; test -e go",
      "--on-fail",
      "park",
      "--retries",
      "0",
      "--shards",
      "2",
    ];
    expect((await run(...args)).code).toBe(3);
    writeFileSync(join(folder, "go"), "");
    writeFileSync(join(folder, "lines"), "line\n".repeat(60));
    expect((await at("unpark", "--all")).code).toBe(0);
    const ended = await run(...args);
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/shard \w+ is set aside: .*lines is shorter than it was/),
    ]);
  });

  test("an empty folder and an empty file are done at once", async () => {
    mkdirSync(join(folder, "empty"));
    writeFileSync(join(folder, "nothing"), "");
    for (const source of ["fs:empty", "lines:nothing"]) {
      const ended = await run("--source", source, "--exec", "false", "--out", "out.ndjson");
      expect([ended.code, ended.stderr, readFileSync(join(folder, "out.ndjson"), "utf8")]).toEqual([
        0,
        expect.stringContaining("Done: 0 items"),
        "",
      ]);
    }
  });

  test("a line that no argument can hold is a failed item, and the rest is done", async () => {
    writeFileSync(join(folder, "lines"), "one\nt\0wo\nthree\n");
    const ended = await run("--source", "lines:lines", "--exec", "echo {}", "--out", "out.ndjson");
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringContaining("zero byte")]);
    expect(
      readFileSync(join(folder, "out.ndjson"), "utf8")
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { ok: boolean }).ok),
    ).toEqual([true, false, true]);
  });
});

describe("the store", () => {
  test("one that may not be written to", async () => {
    const isRoot = process.getuid?.() === 0;
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "locked"), { mode: isRoot ? 0o755 : 0o555 });
    const on = (store: string): Promise<Ended> =>
      gossip(["run", "--source", "fs:data", "--exec", "true", "--store", store], {
        cwd: folder,
        ...(isRoot ? { uid: NOBODY } : {}),
      });
    expectSentence(
      await on("locked"),
      7,
      /locked cannot be opened: the folder may not be made or written to; .* --store names another folder/,
    );
    expectSentence(await on("locked/store"), 7, /cannot be created/);
  });

  test("one that no folder can be made for", async () => {
    expectSentence(
      await at("tso", "serve", "--data", "/proc/nowhere/tso", "--listen", "127.0.0.1:0", "--http", "off"),
      7,
      /\/proc\/nowhere\/tso cannot be used \(ENOENT\)/,
    );
    expectSentence(
      await run("--source", "fs:data", "--exec", "true", "--store", "/proc/nowhere/store"),
      7,
      /cannot be created/,
    );
  });

  test("something else in its place", async () => {
    expectSentence(await run("--source", "fs:data", "--exec", "true", "--store", "data/a"), 7, /no folder|no store/);
  });

  test("one of a newer version, which is left as it is", async () => {
    expect((await run("--source", "fs:data", "--exec", "true")).code).toBe(0);
    raiseFolderFormat(join(folder, ".gossip"));
    expectSentence(
      await run("--source", "fs:data", "--exec", "true"),
      7,
      /has format 99, and this version knows up to \d+; use the newer version/,
    );
    expectSentence(await at("runs"), 7, /format 99/);
  });

  test("a PostgreSQL that is not there, without telling the password", async () => {
    const ended = await run(
      "--source",
      "fs:data",
      "--exec",
      "true",
      "--store",
      `postgres://me:hunter2@127.0.0.1:${await freePort()}/db`,
      "--patience",
      "0",
    );
    expectSentence(
      ended,
      7,
      /PostgreSQL at 127\.0\.0\.1:\d+\/db cannot be opened: no server answers \(ECONNREFUSED\); start it, .* Nothing was lost/,
    );
    expect(ended.stderr).not.toMatch(/hunter2|me:/);
  });

  test("an etcd that is not there, without telling the password", async () => {
    const ended = await run(
      "--source",
      "fs:data",
      "--exec",
      "true",
      "--store",
      `etcd://me:hunter2@127.0.0.1:${await freePort()}`,
      "--patience",
      "0",
    );
    expectSentence(
      ended,
      7,
      /etcd at 127\.0\.0\.1:\d+ cannot be opened: no member answers \(ECONNREFUSED\); start one, .* Nothing was lost/,
    );
    expect(ended.stderr).not.toMatch(/hunter2|me:/);
  });

  test("none at all, for commands that only look", async () => {
    for (const args of [["runs"], ["status"], ["fsck"], ["events"]])
      expectSentence(await at(...args), 4, /there is no store in/);
    expect(existsSync(join(folder, ".gossip"))).toBe(false);
  });

  test("an oracle that goes away while the work goes on", async () => {
    // Far more than can be done before it goes away.
    writeFileSync(join(folder, "lines"), "x\n".repeat(5000));
    const address = `127.0.0.1:${await freePort()}`;
    const oracle = await startGossip(["tso", "serve", "--data", "tso", "--listen", address, "--http", "off"], {
      cwd: folder,
    });
    expect(await oracle.heard(/serving epoch/)).toBe(true);
    const args = [
      "run",
      "--source",
      "lines:lines",
      "--exec",
      ": {}; sleep 0.05",
      "--tso",
      address,
      "--lease",
      "2",
      "--patience",
      "1",
      "--json",
    ];
    const running = await startGossip(args, { cwd: folder });
    expect(await running.heard(/"kind":"progress"/)).toBe(true);
    await oracle.kill();
    const { code, stderr } = await running.ended;
    expect([code, JSON.parse(stderr)]).toEqual([
      7,
      { error: expect.objectContaining({ kind: "ClockUnreachable" }) as object },
    ]);
  });

  test("an oracle that does not answer", async () => {
    expectSentence(
      await run("--source", "fs:data", "--exec", "true", "--patience", "0", "--tso", `127.0.0.1:${await freePort()}`),
      7,
      /no timestamp oracle answers/,
    );
  });
});

describe("the run", () => {
  test("a name with other settings is refused, and they are shown", async () => {
    expect((await run("mine", "--source", "fs:data", "--exec", "true")).code).toBe(0);
    expectSentence(
      await run("mine", "--source", "fs:data", "--exec", "false"),
      5,
      /run "mine" exists with other settings \(--exec true\): give this one another name/,
    );
    expectSentence(
      await run("mine", "--source", "fs:.", "--exec", "true", "--out", "x"),
      5,
      /--source fs:.*data, --out left out/,
    );
    expect((await run("mine", "--source", "fs:data", "--exec", "true")).stderr).toContain("Done before: all 3 items");
  });

  test("a canceled run says how to start over; a deleted one does so", async () => {
    expect(
      (await run("mine", "--source", "fs:data", "--exec", "exit 1", "--on-fail", "park", "--retries", "0")).code,
    ).toBe(3);
    expect((await at("cancel", "mine")).code).toBe(0);
    expectSentence(await run("mine", "--source", "fs:data", "--exec", "exit 1"), 5, /has ended \(Cancelled\).*--again/);
    expect((await at("delete", "mine")).code).toBe(0);
    expect((await run("mine", "--source", "fs:data", "--exec", "exit 1", "--retries", "0")).stderr).toContain(
      "Done: 3 items, 3 of them failed",
    );
  });

  test("results that cannot be written, before any work is done", async () => {
    expectSentence(
      await run("--source", "fs:data", "--exec", "touch worked", "--out", "none/out.ndjson"),
      9,
      /does not exist: create it/,
    );
    expectSentence(await run("--source", "fs:data", "--exec", "touch worked", "--out", "data"), 9, /is not a file/);
    expect(existsSync(join(folder, "worked"))).toBe(false);
  });

  test("results of a run that is done, of which something was cut off, changed or removed since", async () => {
    const args = ["--source", "fs:data", "--exec", "cat {}", "--out", "out.ndjson"];
    expect((await run(...args)).code).toBe(0);
    const out = join(folder, "out.ndjson");
    const whole = readFileSync(out, "utf8");
    for (const text of [whole.slice(0, -1), whole.replace('"a"', '"A"')]) {
      writeFileSync(out, text);
      expectSentence(await run(...args), 9, /out\.ndjson are not those that were written.*--again/);
    }
    rmSync(out);
    expectSentence(await run(...args), 9, /out\.ndjson are missing.*--again/);
    // The results of a run that was started over are those of the last one.
    writeFileSync(join(folder, "data/a"), "x");
    expect((await run(...args, "--again")).code).toBe(0);
    expect((await run(...args)).stderr).toContain("Done before: all 3 items");
    expect(readFileSync(out, "utf8")).toBe(whole.replace('"a"', '"x"'));
  });

  test("parts of results that are gone are not made up for by older results of the same size", async () => {
    const args = [
      "--source",
      "fs:data",
      "--exec",
      "cat {}; case {} in */c) until [ -e go ]; do sleep 0.05; done;; esac",
    ];
    const more = ["--out", "out.ndjson", "--workers", "1", "--shards", "1", "--lease", "1"];
    const out = join(folder, "out.ndjson");
    writeFileSync(join(folder, "go"), "");
    expect((await run(...args, ...more)).code).toBe(0);
    const older = readFileSync(out, "utf8");
    for (const name of ["a", "b", "c"]) writeFileSync(join(folder, "data", name), name.toUpperCase());
    rmSync(join(folder, "go"));
    const second = await startGossip(["run", ...args, ...more, "--again", "--json"], { cwd: folder });
    expect(await second.heard(/"kind":"progress".*"items":2/)).toBe(true);
    await second.kill();
    rmSync(`${out}.parts`, { recursive: true });
    writeFileSync(join(folder, "go"), "");
    expect([(await run(...args, ...more, "--again")).code, readFileSync(out, "utf8")]).toEqual([9, older]);
  });

  test("parts of results that were removed before the run was done", async () => {
    const args = [
      "--source",
      "fs:data",
      "--exec",
      "test -e go || case {} in */c) exit 1;; esac",
      "--retries",
      "0",
      "--on-fail",
      "park",
      "--shards",
      "1",
      "--workers",
      "1",
      "--out",
      "out.ndjson",
    ];
    expect((await run(...args)).code).toBe(3);
    rmSync(join(folder, "out.ndjson.parts"), { recursive: true });
    writeFileSync(join(folder, "go"), "");
    expect((await at("unpark", "--all")).code).toBe(0);
    const ended = await run(...args);
    expect([ended.code, ended.stderr]).toEqual([
      9,
      expect.stringMatching(
        /\ngossip: the part .* is missing: bring back the folder .*out\.ndjson\.parts, .* start over with `gossip cancel [0-9a-f]{16}` and the same command with --again\.\n$/,
      ),
    ]);
  });

  test("a module whose results are no JSON", async () => {
    writeFileSync(join(folder, "job.mjs"), "export default () => 1n;");
    const ended = await run("--source", "fs:data", "--module", "./job.mjs", "--out", "out.ndjson");
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(
        /a \(a result cannot be written as JSON: .*BigInt.*\)\n(?:.*\n)*Done: 3 items, 3 of them failed/,
      ),
    ]);
  });

  test("results that were removed", async () => {
    const args = ["--source", "fs:data", "--exec", "true", "--out", "out.ndjson"];
    expect((await run(...args)).code).toBe(0);
    rmSync(join(folder, "out.ndjson"));
    expectSentence(await run(...args), 9, /are missing/);
    expect((await run(...args, "--again")).code).toBe(0);
  });
});

describe("a command that fails for some items", () => {
  const FAILS_FOR_B = 'case "$1" in */b) echo "no b" >&2; exit 4;; esac; echo fine';

  test("is tried again, recorded, passed over, and told of in the end", async () => {
    const ended = await run(
      "--source",
      "fs:data",
      "--exec",
      `echo x >> tries$(basename {}); ${FAILS_FOR_B}`,
      "--retries",
      "2",
      "--out",
      "out.ndjson",
    );
    expect([ended.code, ended.stderr]).toEqual([
      3,
      expect.stringMatching(/failed: .*data\/b \(exit status 4\): no b\n(?:.*\n)*Done: 3 items, 1 of them failed/),
    ]);
    const results = readFileSync(join(folder, "out.ndjson"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(results[1]).toEqual({
      path: join(folder, "data/b"),
      ok: false,
      status: 4,
      stdout: "",
      stderr: "no b\n",
      error: "exit status 4",
    });
    expect([readFileSync(join(folder, "triesb"), "utf8"), readFileSync(join(folder, "triesa"), "utf8")]).toEqual([
      "x\nx\nx\n",
      "x\n",
    ]);
    expect(
      (
        await run(
          "--source",
          "fs:data",
          "--exec",
          `echo x >> tries$(basename {}); ${FAILS_FOR_B}`,
          "--out",
          "out.ndjson",
        )
      ).code,
    ).toBe(3);
  });

  test("parks its shard if asked to, until an operator unparks it", async () => {
    const args = [
      "--source",
      "fs:data",
      "--exec",
      `test -e repaired || { ${FAILS_FOR_B}; }`,
      "--retries",
      "0",
      "--on-fail",
      "park",
      "--shards",
      "1",
      "--workers",
      "1",
      "--out",
      "out.ndjson",
    ];
    const parked = await run(...args);
    expect([parked.code, parked.stderr]).toEqual([
      3,
      expect.stringMatching(
        /failed: .*data\/b \(exit status 4\): no b\n(?:.*\n)*Set aside: 1 shard; 1 item done\. Results so far are in .*out\.ndjson\.parts\./,
      ),
    ]);
    expect(existsSync(join(folder, "out.ndjson"))).toBe(false);
    const listed = await at("shards", "--status", "parked", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject({ status: "Parked", parkReason: "TooManyErrors", items: 1 });
    expect((await run(...args)).code).toBe(3);
    writeFileSync(join(folder, "repaired"), "");
    expect((await at("unpark", "--all")).stderr).toBe("Unparked shard 1.\n");
    const done = await run(...args);
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining("Done: 3 items, 1 of them done before")]);
    expect(readFileSync(join(folder, "out.ndjson"), "utf8").trim().split("\n")).toHaveLength(3);
  });

  test("is ended where it takes too long", async () => {
    const ended = await run(
      "--source",
      "fs:data",
      "--exec",
      'case "$1" in */b) sleep 1000;; esac',
      "--retries",
      "0",
      "--timeout",
      "0.5",
    );
    expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(/data\/b \(it took longer than 500 ms\)/)]);
  });
});
