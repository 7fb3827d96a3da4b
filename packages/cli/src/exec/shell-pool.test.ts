// The pool stands between every item and its command: a byte changed, a status mixed up, or a shell that is not replaced
// is a wrong result that looks right.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parseTemplate } from "./command-template.ts";
import { ShellPool, type ExecAnswer, type ShellPoolOptions } from "./shell-pool.ts";

const pools: ShellPool[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const pool of pools.splice(0)) pool.killAtOnce();
});

function open(command: string, options: Partial<ShellPoolOptions> = {}): ShellPool {
  const pool = unwrap(
    ShellPool.open({
      size: 2,
      body: unwrap(parseTemplate(command)),
      cwd: tmpdir(),
      env: process.env,
      maxOutputSize: 1 << 20,
      ...options,
    }),
  );
  pools.push(pool);
  return pool;
}

function run(
  pool: ShellPool,
  item: string | Uint8Array,
  signal: AbortSignal = new AbortController().signal,
): Promise<ExecAnswer> {
  return pool.run({ item: Buffer.from(item), variables: "", signal });
}

async function printed(pool: ShellPool, item: string | Uint8Array): Promise<string> {
  const answer = await run(pool, item);
  return answer.kind === "Ended" ? `${answer.status}:${answer.stdout.bytes.toString()}` : answer.kind;
}

describe("ShellPool", () => {
  test("hands over every byte and gives back every byte", async () => {
    const pool = open("printf %s {}");
    const byte = fc.integer({ min: 1, max: 255 });
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ min: 1, max: 255, maxLength: 300 }),
        fc.array(byte, { maxLength: 3 }),
        async (item, end) => {
          const whole = Buffer.from([...item, ...end]);
          const answer = await run(pool, whole);
          expect(answer.kind === "Ended" && answer.stdout.bytes.equals(whole)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("tells stdout, stderr and status of each item, with many at once", async () => {
    const pool = open('echo "out $1"; echo "err $1" >&2; exit $(( $1 % 256 ))', { size: 4 });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => run(pool, String(index))));
    for (const [index, answer] of answers.entries()) {
      expect(answer).toMatchObject({ kind: "Ended", status: index });
      if (answer.kind === "Ended")
        expect([answer.stdout.bytes.toString(), answer.stderr.bytes.toString()]).toEqual([
          `out ${index}\n`,
          `err ${index}\n`,
        ]);
    }
  });

  test("leaves nothing of an item for the next", async () => {
    const pool = open(
      'printf "%s-%s-%s" "$x" "$PWD" "$-"; x=1; cd /; set -e; trap "echo trapped" EXIT; exec 2>&-; false',
      { size: 1 },
    );
    const first = await printed(pool, "a");
    expect([await printed(pool, "b"), await printed(pool, "c")]).toEqual([first, first]);
  });

  test("a command gets no input: it cannot read the commands for the shell", async () => {
    expect(await printed(open("cat; printf done"), "x")).toBe("0:done");
  });

  test("a command can open its own output by name", async () => {
    const answer = await run(open("echo a | tee /dev/stderr"), "x");
    expect(answer.kind === "Ended" && answer.stdout.bytes.toString() + answer.stderr.bytes.toString()).toBe("a\na\n");
  });

  test("replaces a shell that was killed, and says so to the item that was in it", async () => {
    const pool = open('if [ "$1" = die ]; then kill -9 $$; fi; printf alive', { size: 1 });
    expect([await printed(pool, "x"), await printed(pool, "die"), await printed(pool, "x")]).toEqual([
      "0:alive",
      "ShellDied",
      "0:alive",
    ]);
  });

  test("ends what takes too long, with all that it started, and goes on", async () => {
    // Simulated time: a shell that is slow to start does not matter here.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const folder = mkdtempSync(join(tmpdir(), "gossip-pool-"));
    const pool = open('if [ "$1" = slow ]; then echo $$ > pid; sleep 1000 & sleep 1000; fi; printf quick', {
      size: 1,
      timeoutMs: 300,
      cwd: folder,
    });
    const running = printed(pool, "slow");
    const group = await groupIn(folder);
    vi.advanceTimersByTime(299);
    expect(isAlive(group)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await running).toBe("TimedOut");
    expect(await printed(pool, "x")).toBe("0:quick");
    await until(() => !isAlive(group));
    rmSync(folder, { recursive: true });
  });

  test("kills what does not end when it is asked to", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gossip-pool-"));
    const pool = open("trap '' TERM; echo $$ > pid; sleep 1000 & wait; wait; sleep 1000", { size: 1, cwd: folder });
    const stopping = new AbortController();
    const running = run(pool, "a", stopping.signal);
    const group = await groupIn(folder);
    expect(isAlive(group)).toBe(true);
    stopping.abort();
    await running;
    pool.close();
    await until(() => !isAlive(group));
    rmSync(folder, { recursive: true });
  });

  test("stops at a signal, before and while it works", async () => {
    const pool = open(": {}; sleep 1000", { size: 1 });
    const stopping = new AbortController();
    const [running, waiting] = [run(pool, "a", stopping.signal), run(pool, "b", stopping.signal)];
    stopping.abort();
    expect([(await running).kind, (await waiting).kind, (await run(pool, "c", stopping.signal)).kind]).toEqual([
      "Aborted",
      "Aborted",
      "Aborted",
    ]);
  });

  test("keeps what it may of what is printed, and counts the rest", async () => {
    const answer = await run(open("head -c 300000 /dev/zero; printf x >&2", { maxOutputSize: 1000 }), "x");
    expect(answer).toMatchObject({
      kind: "Ended",
      status: 0,
      stdout: { droppedSize: 299_000 },
      stderr: { droppedSize: 0 },
    });
  });

  test("knows which bytes no shell can receive", async () => {
    expect(await run(open("true"), Uint8Array.of(0x61, 0))).toEqual({ kind: "ZeroByte" });
    const refused = ShellPool.open({ size: 1, body: "if then", cwd: tmpdir(), env: process.env, maxOutputSize: 1 });
    expect(refused).toMatchObject({
      ok: false,
      error: { kind: "InvalidCommand", complaint: expect.stringContaining("then") as string },
    });
  });
});

/** A test that waits in vain is ended by its time limit. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** The group of the command that writes its shell's number down, once it has. */
async function groupIn(folder: string): Promise<number> {
  const file = join(folder, "pid");
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  return Number(readFileSync(file, "utf8"));
}

/** Whether a process of the group runs. Zombies do not. */
function isAlive(group: number): boolean {
  const { status, stdout } = spawnSync("ps", ["-e", "-o", "pgid=", "-o", "stat="], { encoding: "utf8" });
  expect(status).toBe(0);
  return stdout.split("\n").some((line) => new RegExp(`^ *${group} +[^Z ]`).test(line));
}
