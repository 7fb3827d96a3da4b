// What a person sees. A view that is drawn one column too wide, leaves its cursor hidden, or swallows a Ctrl-C is wrong
// however right the numbers in it are.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skippedFor } from "@gossip/tools/engines";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";
import { Terminal, terminalMissing } from "./terminal.fixture.ts";

const ROWS = 120;
const CTRL_C = "\u0003";
const MISSING = skippedFor(terminalMissing());

let folder: string;
let terminal: Terminal | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-terminal-"));
  writeFileSync(join(folder, "rows"), Array.from({ length: ROWS }, (_, index) => `${index}\n`).join(""));
});
afterEach(async () => {
  await terminal?.kill();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(removeGossipScript);

async function run(columns: number, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
  terminal = await Terminal.run(["run", "--source", "lines:rows", "--workers", "2", "--shards", "8", ...args], {
    cwd: folder,
    columns,
    env,
  });
  return terminal;
}

/** A command that prints its item. Beyond so many, all are held up until `letGo`: so nothing is over before it was looked at. */
const holdingAfter = (count: number): string =>
  `echo x >> begun; until [ -e go ] || ! [ "$(wc -l < begun)" -gt ${count} ]; do sleep 0.05; done; echo {}`;
const letGo = (): void => writeFileSync(join(folder, "go"), "");

/** The view: a bar with figures, the strip, the states. */
const VIEW = /\[[━─]+\] [\d.]+ %  \d+ items  .*\n[█▓░▒]+\n█ \d+ done  ▓ \d+ in work  ░ \d+ waiting  ▒ \d+ parked/;

describe.skipIf(MISSING !== undefined)("in a terminal", () => {
  test("a run shows where it is, in place, and ends with a sentence", async () => {
    const screen = await run(80, ["--exec", ": {}; sleep 0.01", "--out", "out.ndjson"]);
    await screen.shows(VIEW);
    expect(await screen.ended).toBe(0);
    const { lines } = screen;
    // The first line may be wrapped.
    expect(lines.slice(0, 2).join("")).toMatch(/^Run [0-9a-f]{16}: lines:.*rows through : \{\}; sleep 0\.01/);
    expect(lines.filter((line) => line.startsWith("["))).toEqual([
      expect.stringMatching(/^\[━{30}\] 100 %  120 items  /),
    ]);
    expect(lines).toContain("█".repeat(79));
    expect(lines.join("")).toMatch(/Done: 120 items, in .* Results are in .*out\.ndjson\.$/);
    // The cursor is there again, and no color is left behind.
    expect(screen.raw.lastIndexOf("\u001b[?25h")).toBeGreaterThan(screen.raw.lastIndexOf("\u001b[?25l"));
  });

  test("one without a size gets plain lines and complete lists", async () => {
    const size = { cwd: folder, columns: 0, rows: 0 };
    terminal = await Terminal.run(
      ["run", "unsized", "--source", "lines:rows", "--exec", "true", "--workers", "2"],
      size,
    );
    expect(await terminal.ended).toBe(0);
    // The test's terminal wraps the lines of the log.
    expect(terminal.lines.join("")).toMatch(/^[^ ]+Z info .*Run [0-9a-f]{16}: .*Done: 120 items, in /);
    expect(terminal.raw).not.toContain("\u001b[?25l");
    terminal = await Terminal.run(["runs"], size);
    expect(await terminal.ended).toBe(0);
    // Wider than the screen, so its lines are wrapped.
    expect(terminal.lines.join("")).toMatch(/^RUN +STATUS .*OUT[0-9a-f]{16} +Done .* unsized/);
  });

  test("what commands print stands above the view, each line whole", async () => {
    const screen = await run(60, ["--exec", "sleep 0.005; echo item {}"]);
    await screen.shows(/item 5\n/);
    expect(await screen.ended).toBe(0);
    const printed = screen.lines.filter((line) => line.startsWith("item "));
    expect(printed.toSorted()).toEqual(Array.from({ length: ROWS }, (_, index) => `item ${index}`).toSorted());
    expect(screen.lines.filter((line) => line.startsWith("["))).toHaveLength(1);
  });

  test("Ctrl-C lets the work finish what it has, and the same command goes on", async () => {
    const screen = await run(90, ["--exec", holdingAfter(30), "--out", "out.ndjson"]);
    await screen.shows(/ [1-9]\d* items/);
    screen.type(CTRL_C);
    await screen.shows(/Stopping/);
    letGo();
    expect(await screen.ended).toBe(130);
    expect(screen.lines.join("\n")).toMatch(
      /Stopping: letting what is under way finish for up to 8 s; Ctrl-C again stops at once\.\n(?:.*\n)*Stopped: \d+ items done so far; the same command goes on from here\./,
    );
    const second = await run(90, ["--exec", holdingAfter(30), "--out", "out.ndjson"]);
    await second.shows(/goes on: \d+ items skipped, done before/);
    await second.shows(/\d+ items skipped: done before/);
    expect(await second.ended).toBe(0);
  });

  test("a second Ctrl-C stops at once, and the cursor is there again", async () => {
    const screen = await run(90, ["--exec", ": {}; sleep 1000"]);
    await screen.shows(/2 in work/);
    screen.type(CTRL_C);
    await screen.shows(/Stopping/);
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.lines.join("\n")).toContain("Stopped at once: items in progress were ended and are done again;");
    expect(screen.raw.lastIndexOf("\u001b[?25h")).toBeGreaterThan(screen.raw.lastIndexOf("\u001b[?25l"));
  });

  test("a narrow terminal, and one that becomes narrow, show whole lines", async () => {
    const screen = await run(100, ["--exec", holdingAfter(60), "--out", "out.ndjson"]);
    await screen.shows(VIEW);
    screen.resize(24);
    await screen.shows(/^[█▓░▒]{23}\n\d+\/\d+\/\d+\/0$/m);
    expect(screen.lines.filter((line) => /^[█▓░▒]+$/.test(line) && line.length === 23)).toHaveLength(1);
    letGo();
    expect(await screen.ended).toBe(0);
  });

  test("without colors if the user wants none, and with plain signs if the terminal has no others", async () => {
    const plain = await run(80, ["--exec", ": {}; sleep 0.01"], { NO_COLOR: "1" });
    await plain.shows(VIEW);
    await plain.ended;
    // oxlint-disable-next-line no-control-regex -- it is what is looked for
    expect(plain.raw).not.toMatch(/\u001b\[[0-9;]*m/);
    const ascii = await run(80, ["ascii", "--exec", ": {}; sleep 0.01"], { LC_ALL: "C", LANG: "C" });
    await ascii.shows(/\[[=-]+\] [\d.]+ %  \d+ items .*\n[#+.!]+\n# \d+ done/);
    await ascii.ended;
  });

  test("a failing command is reported in red, without control characters of its name", async () => {
    writeFileSync(join(folder, "rows"), "a\u001b[2Jb\n");
    const screen = await run(80, ["--exec", "echo '\u001b[5mno' >&2; exit 9", "--retries", "0"]);
    expect(await screen.ended).toBe(3);
    expect(screen.lines.join("\n")).toContain("failed: a\\x1b[2Jb (exit status 9)\n  \\x1b[5mno");
    expect(screen.raw).not.toContain("\u001b[2J");
  });

  test("shards are watched in place, until Ctrl-C", async () => {
    expect(
      (await gossip(["run", "--source", "lines:rows", "--exec", "true", "--shards", "8"], { cwd: folder })).code,
    ).toBe(0);
    terminal = await Terminal.run(["shards", "--watch", "0.2"], { cwd: folder, columns: 70, rows: 6 });
    await terminal.shows(/^SHARD +STATUS.*\n1 +Done/m);
    await terminal.shows(/… and \d+ more/);
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(0);
    for (const line of terminal.lines) expect(line.length).toBeLessThanOrEqual(70);
  });

  test("a list fits the terminal", async () => {
    expect(
      (await gossip(["run", "--source", "lines:rows", "--exec", `true ${"x".repeat(200)}`], { cwd: folder })).code,
    ).toBe(0);
    terminal = await Terminal.run(["runs"], { cwd: folder, columns: 100 });
    expect(await terminal.ended).toBe(0);
    expect(terminal.lines).toHaveLength(2);
    expect(terminal.lines[1]).toMatch(/…$/);
  });

  test("a module that blocks the process is named, and Ctrl-C ends it", async () => {
    writeFileSync(join(folder, "job.mjs"), "export default ({ line }) => { if (line === '7') for (;;); };");
    const screen = await run(100, ["--module", "./job.mjs", "--workers", "1", "--shards", "1"]);
    await screen.shows(/row:\S+ has kept this process busy for/);
    screen.type(CTRL_C);
    await screen.shows(/Stopping: row:\S+ keeps this process busy/);
    screen.type(CTRL_C);
    await screen.shows(/Ended at once/);
    // Killed: no code of its own.
    expect(await screen.ended).not.toBe(0);
  });
});
