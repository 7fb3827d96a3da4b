// What operators type, at night, into a store that others are working on: each must do what it says, to the shard that was
// meant, and refuse the rest with nothing changed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { RunId, TenantId, WorkerId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeCertificates, tlsSkipped } from "@gossip/tools/engines";
import { gossipLine, type Said } from "./command-line.fixture.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-commands-"));
  writeFileSync(
    join(folder, "rows"),
    Array.from({ length: 40 }, (_, index) => `row ${String(index).padStart(4, "0")}\n`).join(""),
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...argv: string[]): Promise<Said> => gossipLine(argv, { cwd: folder });
const json = ({ stdout }: Said): Record<string, unknown>[] =>
  stdout
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** A run whose four shards are all parked: no worker holds it, and nothing of it is done. */
async function parkedRun(name = "mine"): Promise<void> {
  const { code } = await at(
    "run",
    name,
    "--source",
    "lines:rows",
    "--exec",
    "false",
    "--on-fail",
    "park",
    "--retries",
    "0",
    "--shards",
    "4",
    "--workers",
    "1",
  );
  expect(code).toBe(3);
}

async function activeRun(): Promise<void> {
  await parkedRun();
  expect((await at("unpark", "--all")).code).toBe(0);
}

test("items wait for a slow reader, and no more than the items in progress is printed meanwhile", async () => {
  let [isBehind, printedMeanwhile, most] = [false, 0, 0];
  const caughtUp = new Set<() => void>();
  const onLine = (): void => {
    printedMeanwhile = isBehind ? printedMeanwhile + 1 : 0;
    most = Math.max(most, printedMeanwhile);
    if (isBehind) return;
    isBehind = true;
    // As late as the commands of many items would take.
    setTimeout(() => {
      isBehind = false;
      const waiting = [...caughtUp];
      caughtUp.clear();
      for (const listener of waiting) listener();
    }, 20);
  };
  const reader = {
    get writableNeedDrain() {
      return isBehind;
    },
    once: (_event: "drain", listener: () => void) => caughtUp.add(listener),
  };
  const { code, stdout } = await gossipLine(["run", "--source", "lines:rows", "--exec", "echo {}", "--workers", "3"], {
    cwd: folder,
    onLine,
    reader,
  });
  expect([code, stdout.trim().split("\n").length]).toEqual([0, 40]);
  expect(most).toBeLessThanOrEqual(2);
});

describe("--help", () => {
  const LINES = [
    "",
    "run",
    "status",
    "runs",
    "shards",
    "show",
    "failures",
    "retry",
    "workers",
    "events",
    "park",
    "unpark",
    "split",
    "set",
    "pause",
    "resume",
    "cancel",
    "delete",
    "fsck",
    "store",
    "store migrate",
    "doctor",
    "keys",
    "keys encode",
    "keys decode",
    "keys successor",
    "keys midpoint",
    "keys split",
    "tso",
    "tso serve",
    "tso get",
    "serve",
    "token",
    "token create",
    "token list",
    "token revoke",
    "scope",
    "scope list",
    "scope route",
    "scope move",
    "scope abort",
    "scope reload",
    "scope token",
    "console",
    "completion",
  ];

  test.each(LINES)("gossip %s --help has an example, and ends well", async (line) => {
    const { code, stdout, stderr } = await at(...line.split(" ").filter(Boolean), "--help");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/Examples?:\n +\$ .*\bgossip /);
    expect(stdout).toMatch(/^Usage: gossip/);
  });

  test.each(["keys", "store", "tso", "token", "scope"])(
    "gossip %s alone shows what there is, and says that one must be named",
    async (group) => {
      const { code, stdout, stderr } = await at(group);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^Usage: gossip/);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(
        `gossip: ${group} alone does nothing: name one of its commands.`,
      );
    },
  );

  test("help for what is no command says so", async () => {
    const { code, stderr } = await at("help", "nope");
    expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([
      2,
      "gossip: there is no such command: name one of these.",
    ]);
  });

  test("every command is among those", async () => {
    const { stdout } = await at("--help");
    const named = [...stdout.matchAll(/^ {2}([a-z]+)(?: [[<]| {2,})/gm)]
      .map((match) => match[1]!)
      .filter((name) => name !== "help");
    expect(named.toSorted()).toEqual(LINES.filter((line) => line !== "" && !line.includes(" ")).toSorted());
  });
});

describe("looking", () => {
  test("runs, newest first, by id, by the first digits of it, and by name", async () => {
    await parkedRun("first");
    await parkedRun("second");
    const listed = json(await at("runs", "--json"));
    const counts = { items: 0, failed: 0, unreadable: 0, shards: { done: 0, parked: 4 } };
    expect(listed).toMatchObject([{ name: "second", status: "Active", ...counts }, { name: "first" }]);
    const id = String(listed[1]!["run"]);
    for (const reference of ["first", id, id.slice(0, 6), id.toUpperCase()])
      expect(json(await at("status", reference, "--json"))).toMatchObject([{ run: id, name: "first" }]);
    expect(await at("status")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("has 2 runs: name one") as string,
    });
    expect(await at("status", "third")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('has no run "third"') as string,
    });
    expect((await at("runs")).stdout).toMatch(
      /^RUN +STATUS .*\n[0-9a-f]{16} +Active .* second: lines:.*rows through false\n/,
    );
  });

  test("runs shows what a run did, when, and where its results are", async () => {
    const seven = ["--exec", "test {} != 'row 0007'", "--retries", "0", "--out", "out.ndjson"];
    expect((await at("run", "--source", "lines:rows", ...seven)).code).toBe(3);
    const [listed] = json(await at("runs", "--json"));
    expect(listed).toMatchObject({ items: 40, failed: 1, unreadable: 0, failures: 1, out: join(folder, "out.ndjson") });
    expect(Date.parse(String(listed!["completedAt"]))).toBeGreaterThanOrEqual(Date.parse(String(listed!["createdAt"])));
    const time = "[0-9]{4}-[0-9-]+ [0-9:]+Z";
    expect((await at("runs")).stdout).toMatch(
      new RegExp(`\\n[0-9a-f]{16} +Done +${time} +${time} +40 +1 +\\d+/\\d+ +0 +lines:.* ${folder}/out.ndjson\\n$`),
    );
  });

  test("status --watch refreshes until the run has ended", async () => {
    await activeRun();
    let screens = 0;
    const watching = gossipLine(["status", "mine", "--watch", "0.1", "--json"], {
      cwd: folder,
      // Cancel the run once it was shown.
      onLine: () => void (screens++ === 0 && at("cancel", "mine")),
    });
    const shown = json(await watching);
    expect(shown[0]).toMatchObject({ name: "mine", status: "Active" });
    expect(shown.at(-1)).toMatchObject({ name: "mine", status: "Cancelled" });
    expect((await at("status", "mine", "--watch")).stdout).toMatch(/^run +[0-9a-f]{16} {2}Cancelled\n/);
  });

  test("status draws the key space; shards filters, sorts and limits", async () => {
    await activeRun();
    await at("park", "2", "--reason", "Poisoned");
    const { stdout } = await at("status");
    expect(stdout).toMatch(/shards {3}0 done, 0 in work, 3 waiting, 1 parked/);
    expect(stdout).toMatch(/keys {5}░+▒+░+\n/);
    const ids = async (...flags: string[]): Promise<unknown[]> =>
      json(await at("shards", "--json", ...flags)).map(({ shard }) => Number(`0x${String(shard)}`));
    expect(await ids()).toEqual([1, 2, 3, 4]);
    expect(await ids("--status", "parked")).toEqual([2]);
    expect(await ids("--free", "--status", "active", "--sort", "id", "--reverse", "--limit", "2")).toEqual([4, 3]);
    expect(await ids("--held")).toEqual([]);
    expect((await at("shards")).stdout).toMatch(/^SHARD.*\n1 .*\n2 +Parked \(Poisoned\).*\n/);
  });

  test("show tells all of a shard, and which there is not", async () => {
    await activeRun();
    expect((await at("show", "1")).stdout).toMatch(
      /^shard +1 of run [0-9a-f]{16}\nstatus +Active\nfrom +row:0\/0\nto +row:0\/90\nat +nothing done yet\n/,
    );
    expect(json(await at("show", "0000000000000001", "--json"))).toMatchObject([
      { shard: "0000000000000001", record: { status: "Active" } },
    ]);
    expect(await at("show", "77")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("has no shard 77") as string,
    });
    expect((await at("show", "nonsense")).code).toBe(2);
  });

  test("a path of sixteen bytes is shown as a path", async () => {
    mkdirSync(join(folder, "tree"));
    writeFileSync(join(folder, "tree/sixteen-bytes-xx"), "");
    expect((await at("run", "--source", "fs:tree", "--exec", "true", "--shards", "1")).code).toBe(0);
    expect((await at("show", "1")).stdout).toMatch(/^from +the beginning\nto +the end\nat +sixteen-bytes-xx$/m);
    expect((await at("shards")).stdout).toContain(" sixteen-bytes-xx");
  });

  test("events tells what was done, and follows what is done until the run has ended", async () => {
    await activeRun();
    const told = (await at("events")).stdout;
    expect(told).toMatch(/run [0-9a-f]{16} {2}RunCreated/);
    for (const shard of [1, 2, 3, 4])
      expect(told).toMatch(new RegExp(`shard ${shard} {2}Park\\n(?:.*\\n)*.*shard ${shard} {2}Unpark`));
    let hasBegun = false;
    const following = gossipLine(["events", "--follow", "--every", "0.1", "--json"], {
      cwd: folder,
      onListening: () => (hasBegun = true),
    });
    while (!hasBegun) await new Promise((resolve) => setImmediate(resolve));
    await at("park", "3");
    await at("cancel", "mine");
    const events = json(await following);
    expect(events.at(-1)).toMatchObject({ what: "RunCancelled" });
    expect(events.filter(({ shard, what }) => shard === "0000000000000003" && what === "Park")).toHaveLength(2);
  });
});

describe("stepping in", () => {
  test("park and unpark one shard, and refuse what is not so", async () => {
    await activeRun();
    expect(await at("park", "2")).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Parked shard 2; `gossip unpark [0-9a-f]{16} 2` brings it back\.\n$/) as string,
    });
    expect(await at("park", "2")).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/`gossip unpark [0-9a-f]{16} 2` brings it back/) as string,
    });
    expect(await at("unpark", "1")).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("only a parked one") as string,
    });
    expect(await at("unpark", "2")).toMatchObject({ code: 0 });
    expect(await at("unpark", "9")).toMatchObject({ code: 4 });
  });

  test("a shard in a worker's hands is left to it", async () => {
    await activeRun();
    const store = unwrap(await openLmdbStore({ path: join(folder, ".gossip") }));
    try {
      const run = RunId.fromRaw(BigInt(`0x${String(json(await at("runs", "--json"))[0]!["run"])}`));
      const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
      const claimed = unwrap(await coordinator.claim({ tenant: TenantId.ZERO, run, worker: WorkerId.fromRaw(1n) }));
      const shard = String(claimed.shardKey.shard);
      for (const verb of ["park", "split"])
        expect(await at(verb, shard)).toMatchObject({
          code: 5,
          stderr: expect.stringMatching(
            /a worker holds the shard until \d{4}-.*: stop that worker, or try again after that\.\n$/,
          ) as string,
        });
      unwrap(await claimed.release());
      expect((await at("park", shard)).code).toBe(0);
    } finally {
      await store.close();
    }
  });

  test("split cuts a shard without a lease, at keys or into equal parts, and one that cannot be cut stays free", async () => {
    await activeRun();
    const split = json(await at("split", "1", "--parts", "3", "--json"));
    expect(split).toMatchObject([{ shard: "0000000000000001", status: "Split" }]);
    expect(split[0]!["children"]).toHaveLength(3);
    expect((await at("split", "2", "--at", "row:0/100")).stderr).toMatch(/^Split shard 2 into 2: /);
    expect(await at("split", "3", "--at", "row:0/1")).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("cannot be cut there") as string,
    });
    expect(await at("split", "3", "--parts", "1")).toMatchObject({ code: 2 });
    expect(json(await at("shards", "--json", "--free", "--status", "active"))).toHaveLength(7);
    expect((await at("fsck")).code).toBe(0);
  });

  test("pause and resume a run, as often as one likes, and show it everywhere", async () => {
    await activeRun();
    expect(await at("resume", "mine")).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/was not paused/) as string,
    });
    expect((await at("pause", "mine")).stderr).toMatch(
      /^Paused run [0-9a-f]{16}; `gossip resume [0-9a-f]{16}` continues it\.\n$/,
    );
    const [paused] = json(await at("pause", "mine", "--json"));
    expect(paused).toMatchObject({ paused: true, pausedSince: expect.stringMatching(/^20/) as string });
    expect((await at("pause")).stderr).toMatch(/has been paused since 20/);
    expect((await at("status")).stdout).toMatch(/^run {6}[0-9a-f]{16} {2}Active, paused since 20/);
    expect(json(await at("status", "--json"))).toMatchObject([paused]);
    expect((await at("runs")).stdout).toMatch(/ Paused /);
    expect(json(await at("runs", "--json"))).toMatchObject([paused]);
    expect((await at("resume")).stderr).toMatch(/^Resumed run/);
    expect((await at("status")).stdout).not.toMatch(/paused/);
    await at("cancel", "mine");
    expect(await at("pause", "mine")).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/has ended \(Cancelled\)/) as string,
    });
  });

  test("set changes the limits of a run, one at a time, and shows them", async () => {
    await activeRun();
    expect((await at("set", "mine", "--rate", "90/min")).stderr).toMatch(/^Run [0-9a-f]{16}: 1\.5\/s\.\n$/);
    expect(json(await at("set", "mine", "--concurrency", "50", "--json"))).toMatchObject([
      { itemsPerSecond: 1.5, concurrency: 50, paused: false },
    ]);
    expect((await at("status")).stdout).toContain("limits   1.5/s, 50 items at a time\n");
    expect((await at("set", "--rate", "none", "--concurrency", "none")).stderr).toMatch(/: no limits\.\n$/);
    expect((await at("status")).stdout).not.toContain("limits");
    expect(await at("set", "mine")).toMatchObject({ code: 2 });
    expect(await at("set", "mine", "--rate", "fast")).toMatchObject({ code: 2 });
    await at("cancel", "mine");
    expect(await at("set", "mine", "--rate", "1/s")).toMatchObject({ code: 5 });
  });

  test("cancel ends a run, delete forgets it, and neither does the other's work", async () => {
    await activeRun();
    expect(await at("delete", "mine")).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/`gossip cancel [0-9a-f]{16}` ends it/) as string,
    });
    expect(json(await at("cancel", "mine", "--json"))).toMatchObject([{ status: "Cancelled" }]);
    expect(await at("cancel", "mine")).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(
        /^gossip: run [0-9a-f]{16} has ended \(Cancelled\): there is nothing to cancel\.\n$/,
      ) as string,
    });
    expect(await at("park", "1")).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("the run has ended (Cancelled)") as string,
    });
    expect(await at("delete", "mine")).toMatchObject({ code: 0 });
    expect((await at("runs")).stderr).toMatch(/has no runs\.\n$/);
  });
});

describe("checking", () => {
  test("fsck of a store that is in order, with and without repair", async () => {
    await activeRun();
    expect(await at("fsck")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/: 1 run, 4 shards: in order\.\n$/) as string,
    });
    expect(json(await at("fsck", "--repair", "--json"))).toMatchObject([
      { kind: "repaired", addedEntries: 0 },
      { kind: "checked", findingCount: 0 },
    ]);
  });

  test("doctor says that all is well, what is parked, and what cannot be opened", async () => {
    expect(await at("doctor")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("there is none yet") as string,
    });
    await parkedRun();
    const checks = json(await at("doctor", "--json"));
    expect(checks.map(({ what, verdict }) => [what, verdict])).toEqual([
      ["versions", "fine"],
      ["shell", "fine"],
      ["folder", "fine"],
      ["store", "fine"],
      ["shards", "note"],
      ["clock", "fine"],
    ]);
    writeFileSync(join(folder, "file"), "");
    expect(await at("doctor", "--store", "file/below")).toMatchObject({
      code: 8,
      stdout: expect.stringContaining("problem") as string,
    });
  });

  test("doctor notices a clock that is behind what the store has seen", async () => {
    await activeRun();
    const store = unwrap(await openLmdbStore({ path: join(folder, ".gossip") }));
    const ahead = new Coordinator({ store, clock: systemClock(() => Date.now() + 600_000) });
    unwrap(await ahead.createRun({ tenant: TenantId.ZERO, run: RunId.fromRaw(7n), config: { leaseDuration: 1000n } }));
    await store.close();
    expect(await at("doctor")).toMatchObject({
      code: 8,
      stdout: expect.stringMatching(
        /problem +clock +the store was written to at a time that is (10 min|9 min \d+ s) ahead/,
      ) as string,
    });
  });
});

describe("tso", () => {
  test("serves, answers, gives a run its time, and ends when told to", async () => {
    let send: ((name: string) => void) | undefined;
    const heard: string[] = [];
    const serving = gossipLine(
      ["tso", "serve", "--data", "tso", "--listen", "127.0.0.1:0", "--http", "off", "--json"],
      { cwd: folder, onListening: (sender) => (send = sender), onLine: (line) => heard.push(line) },
    );
    while (!heard.some((line) => line.includes('"serving"'))) await new Promise((resolve) => setImmediate(resolve));
    const address = heard
      .map((line) => JSON.parse(line) as { kind: string; text: string })
      .find(({ kind }) => kind === "listening")!.text;
    const [first, second] = json(await at("tso", "get", "--tso", address, "--count", "2", "--json"));
    expect(BigInt(String(second!["timestamp"]))).toBe(BigInt(String(first!["timestamp"])) + 1n);
    expect((await at("run", "--source", "lines:rows", "--exec", "true", "--tso", address)).code).toBe(0);
    expect((await at("doctor", "--tso", address)).stdout).toContain("the oracle gives the time");
    expect(await at("tso", "serve", "--data", "tso", "--listen", "127.0.0.1:0", "--http", "off")).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("another oracle serves from") as string,
    });
    send!("SIGINT");
    expect((await serving).code).toBe(0);
  });

  test.skipIf(tlsSkipped() !== undefined)("serves over TLS to clients with a token, and to no others", async () => {
    const certificates = makeCertificates(folder);
    const token = "gossip_tso_0123456789abcdef";
    writeFileSync(join(folder, "tokens"), `${token}\n`);
    let send: ((name: string) => void) | undefined;
    const heard: string[] = [];
    const { cert, key } = certificates.server;
    const serve = ["tso", "serve", "--data", "tso", "--listen", "127.0.0.1:0", "--http", "off", "--tokens", "tokens"];
    const serving = gossipLine([...serve, "--tls-cert", cert, "--tls-key", key], {
      cwd: folder,
      onListening: (sender) => (send = sender),
      onLine: (line) => heard.push(line),
    });
    while (!heard.some((line) => line.startsWith("serving"))) await new Promise((resolve) => setImmediate(resolve));
    const address = heard.find((line) => line.startsWith("listening"))!.split(" ")[1]!;
    const get = (tso: string, env: NodeJS.ProcessEnv) => gossipLine(["tso", "get", "--tso", tso], { cwd: folder, env });
    const secure = `tsos://${address}?ca=ca.pem`;
    expect((await get(secure, { GOSSIP_TSO_TOKEN: token })).code).toBe(0);
    expect((await get(secure, {})).stderr).toContain("this server needs a token that it knows");
    expect((await get(address, { GOSSIP_TSO_TOKEN: token })).code).not.toBe(0);
    // None of this passes by itself: a run that waited for it would end only after its patience.
    const tokenless = `tsos://${address}?ca=${certificates.ca}`;
    for (const wrong of [`tsos://${address}`, address, tokenless, "no-such-host.invalid:1"]) {
      const ended = await at("run", "--source", "lines:rows", "--exec", "true", "--tso", wrong);
      expect([wrong, ended.code]).toEqual([wrong, 7]);
    }
    const reload = async (): Promise<string> => {
      const from = heard.length;
      send!("SIGHUP");
      for (;;) {
        const said = heard.slice(from).find((line) => line.startsWith("reload "));
        if (said !== undefined) return said;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const renewed = "gossip_tso_fedcba9876543210";
    writeFileSync(join(folder, "tokens"), `${renewed}\n`);
    expect(await reload()).toBe("reload certificates and tokens are read again");
    expect((await get(secure, { GOSSIP_TSO_TOKEN: token })).code).not.toBe(0);
    expect((await get(secure, { GOSSIP_TSO_TOKEN: renewed })).code).toBe(0);
    rmSync(join(folder, "tokens"));
    expect(await reload()).toContain("reload nothing is changed: the file of --tokens cannot be read");
    expect((await get(secure, { GOSSIP_TSO_TOKEN: renewed })).code).toBe(0);
    send!("SIGINT");
    expect((await serving).code).toBe(0);
  });
});
