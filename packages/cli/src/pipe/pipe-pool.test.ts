// Processes of users crash, hang, and print what they like. An item must then be tried again or fail by itself, and no
// other item may be lost, done in its place, or blamed.
import { spawnSync } from "node:child_process";
import { setMaxListeners } from "node:events";
import { readdirSync } from "node:fs";
import { unwrap } from "@gossip/stdx";
import { afterEach, describe, expect, test } from "vitest";
import type { PipeFailed } from "./pipe-failed.ts";
import { PipePool, type PipePoolOptions } from "./pipe-pool.ts";

const NUMBER = `n=\${line##*'"n":'}; n=\${n%%'}'*}; id=\${line#*:}; id=\${id%%,*}`;

/** A worker in the shell: `body` runs for every line, and knows the id and the number of its item. */
const worker = (body: string): string => `while IFS= read -r line; do ${NUMBER}; ${body}; done`;
const ANSWER = `echo "{\\"id\\":$id,\\"result\\":$n}"`;

const pools: PipePool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function open(command: string, options: Partial<PipePoolOptions> = {}) {
  const logged: string[] = [];
  const broken: string[] = [];
  const env = { PATH: process.env["PATH"] };
  const timedOut = (): Error => new Error("late");
  const onBroken = (why: string): void => void broken.push(why);
  const pool = unwrap(PipePool.open({ command, size: 2, cwd: "/", env, timedOut, onBroken, ...options }));
  pool.onLog = (text) => void logged.push(text);
  pools.push(pool);
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const items = new Map<number, object>();
  const run = async (n: number): Promise<unknown> => {
    if (!items.has(n)) items.set(n, { n });
    const { value } = await pool.run({ item: items.get(n)!, fields: `"item":{"n":${n}}`, signal });
    return value;
  };
  return { pool, run, logged, broken };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Run all, as many at a time as the pool asks for. Returns the results, and the messages of failures. */
async function runAll(count: number, { pool, run }: ReturnType<typeof open>): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  const waiting = upTo(count);
  const inFlight = new Set<Promise<void>>();
  while (waiting.length > 0 || inFlight.size > 0) {
    while (waiting.length > 0 && inFlight.size < 2 * pool.appetite) {
      const n = waiting.shift()!;
      const one = run(n).then(
        (value) => void (results[n] = value),
        (failure: Error) => void (results[n] = failure.message),
      );
      inFlight.add(one);
      void one.then(() => inFlight.delete(one));
    }
    await Promise.race(inFlight);
  }
  return results;
}

describe("items", () => {
  test("get the answers with their ids, in whatever order these come", async () => {
    // Two at a time, answered in the other order.
    const command = `echo '{"concurrency":2}'; while IFS= read -r a; do IFS= read -r b; for line in "$b" "$a"; do ${NUMBER}; ${ANSWER}; done; done`;
    expect(await runAll(40, open(command, { size: 1 }))).toEqual(upTo(40));
  });

  test("come in batches if the first line asks for them, each followed by an empty line", async () => {
    const command = `echo '{"batch":5,"concurrency":1}'; all=; count=0; while IFS= read -r line; do if [ -z "$line" ]; then printf '%s' "$all"; [ $count -le 5 ] || exit 9; all=; count=0; else ${NUMBER}; count=$((count+1)); all="$all{\\"id\\":$id,\\"result\\":$n}
"; fi; done`;
    const opened = open(command, { size: 2 });
    expect(await runAll(103, opened)).toEqual(upTo(103));
    expect(opened.pool.appetite).toBe(5);
    expect(opened.logged).toEqual([]);
  });

  test("fail with the words of the process, and say what kind of failure it is", async () => {
    const { run } = open(
      worker(`echo "{\\"id\\":$id,\\"error\\":{\\"message\\":\\"no $n\\",\\"class\\":\\"permanent\\"}}"`),
    );
    const failure = await run(3).catch((thrown: unknown) => thrown as PipeFailed);
    expect(failure).toMatchObject({ message: "no 3", failureClass: "Permanent" });
  });

  test("may ask the whole run to wait", async () => {
    const { run } = open(
      worker(`echo "{\\"id\\":$id,\\"error\\":{\\"message\\":\\"busy\\",\\"retryAfter\\":5,\\"scope\\":\\"run\\"}}"`),
    );
    const failure = await run(3).catch((thrown: unknown) => thrown as PipeFailed);
    expect(failure).toMatchObject({ failureClass: "Dependency", retryAfterMs: 5000, retryAfterScope: "run" });
  });

  test("fail if the answer has neither a result nor an error, as that of cat", async () => {
    await expect(open("cat").run(1)).rejects.toThrow("without a result or an error");
  });

  test("are done by several processes", async () => {
    const opened = open(worker(`echo "{\\"id\\":$id,\\"result\\":$$}"`), { size: 3 });
    expect(new Set(await Promise.all(upTo(3).map(opened.run))).size).toBe(3);
  });
});

describe("a process that ends", () => {
  test("fails only the item that ended it, if that is in its way every time", async () => {
    const opened = open(worker(`[ $n = 57 ] && kill -9 $$; ${ANSWER}`));
    const results = await runAll(300, opened);
    expect(results[57]).toBe("its process ended (signal SIGKILL)");
    expect(results.filter((_, n) => n !== 57)).toEqual(upTo(300).filter((n) => n !== 57));
  });

  test("in the middle of a batch fails only the item that ended it", async () => {
    const command = `echo '{"batch":20}'; while IFS= read -r line; do [ -z "$line" ] && continue; ${NUMBER}; [ $n = 33 ] && exit 7; ${ANSWER}; done`;
    const results = await runAll(100, open(command));
    expect(results[33]).toBe("its process ended (exit status 7)");
    expect(results.filter((_, n) => n !== 33)).toEqual(upTo(100).filter((n) => n !== 33));
  });

  test("now and then by itself loses nothing: an item that is tried again succeeds", async () => {
    const opened = open(`count=0; ${worker(`count=$((count+1)); [ $count = 40 ] && exit 0; ${ANSWER}`)}`);
    const results = await runAll(500, opened);
    for (const [n, value] of results.entries()) {
      if (value === n) continue;
      // Either of the two processes may be at its 40th item.
      const again = (): Promise<unknown> => opened.run(n);
      expect(await again().catch(again).catch(again)).toBe(n);
    }
  });

  test("is reported with the last line that it wrote", async () => {
    await expect(open("echo 'no such module' >&2; exit 3").run(1)).rejects.toThrow(
      "its process ended (exit status 3: no such module)",
    );
  });

  test("without any answer, for item after item, means that the command is wrong", async () => {
    const { run, broken } = open("nonexistent-program");
    for (const n of upTo(3)) await expect(run(n)).rejects.toThrow("exit status 127");
    expect(broken).toEqual([expect.stringContaining("not found")]);
  });

  test("because it closed its input is replaced", async () => {
    const { pool, run } = open(`IFS= read -r line; ${NUMBER}; ${ANSWER}; exec <&-; echo closed; exec sleep 60`, {
      size: 1,
    });
    const closed = new Promise<void>((resolve) => (pool.onLog = (text) => void (text === "closed" && resolve())));
    expect(await run(1)).toBe(1);
    await closed;
    await expect(run(2)).rejects.toThrow("it closed its input");
    expect(await run(2)).toBe(2);
  });
});

describe("a process that misbehaves", () => {
  test("and hangs is killed: the item that it works on failed, those behind it did not", async () => {
    const opened = open(worker(`[ $n = 7 ] && sleep 60; ${ANSWER}`), { timeoutMs: 300, size: 1 });
    expect(await runAll(30, opened)).toEqual(upTo(30).map((n) => (n === 7 ? "late" : n)));
  });

  test("and ignores SIGTERM is killed too", async () => {
    const opened = open(`trap '' TERM; ${worker(`[ $n = 1 ] && { sleep 60; sleep 60; }; ${ANSWER}`)}`, {
      timeoutMs: 200,
    });
    expect(await runAll(3, opened)).toEqual([0, "late", 2]);
  });

  test("and hangs in a batch fails only the item that hangs alone too", async () => {
    const command = `echo '{"batch":4}'; ${worker(`[ -z "$line" ] && continue; [ $n = 5 ] && sleep 60; ${ANSWER}`)}`;
    expect(await runAll(12, open(command, { timeoutMs: 300 }))).toEqual(upTo(12).map((n) => (n === 5 ? "late" : n)));
  });

  test("and answers an item that it does not have is replaced", async () => {
    const opened = open(worker(`[ $n = 3 ] && { echo '{"id":99999,"result":1}'; sleep 60; }; ${ANSWER}`));
    const results = await runAll(20, opened);
    expect(results[3]).toBe("its process ended (it answered an item that it does not have)");
    expect(results.filter((_, n) => n !== 3)).toEqual(upTo(20).filter((n) => n !== 3));
  });

  test("and prints other lines has them passed on", async () => {
    const { pool, run, logged } = open(
      worker(`echo "took $n"; echo "oops $n" >&2; echo '{"level":"info"}'; ${ANSWER}`),
    );
    expect(await run(5)).toBe(5);
    await pool.close();
    expect(new Set(logged)).toEqual(new Set(["took 5", "oops 5", '{"level":"info"}']));
  });

  test("and writes lines without end, on both streams, keeps nothing from its turn, and is killed in time", async () => {
    const opened = open("yes & exec yes >&2", { timeoutMs: 300, size: 1 });
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    await expect(opened.run(1)).rejects.toThrow("late");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    await opened.pool.close();
    expect(opened.logged.length).toBeLessThan(10_000);
    expect(opened.logged.join()).toMatch(/\d+ more lines of the processes were left out/);
  });

  test("and writes a line without an end is killed before it fills the memory", async () => {
    await expect(open("head -c 70000000 /dev/zero; sleep 60").run(1)).rejects.toThrow(
      "a line of more than 67108864 bytes",
    );
  });

  test("and writes faster than the log is read is waited for", async () => {
    const opened = open(
      `i=0; while [ $i -lt 20000 ]; do echo "line $i of a long log"; i=$((i+1)); done; ${worker(ANSWER)}`,
    );
    let [most, unread] = [0, 0];
    opened.pool.onLog = () => {
      most = Math.max(most, ++unread);
      return new Promise((resolve) => {
        setImmediate(() => {
          unread = 0;
          resolve();
        });
      });
    };
    expect(await opened.run(1)).toBe(1);
    expect(most).toBeLessThan(10_000);
  });
});

describe("stopping", () => {
  test("rejects what no process has begun, and lets the rest finish", async () => {
    const { pool, run } = open(worker(`sleep 0.2; ${ANSWER}`), { size: 1 });
    const [first, second] = [run(1), run(2)];
    void second.catch(() => {});
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    pool.stopStarting();
    await expect(second).rejects.toThrow("stopped");
    expect(await first).toBe(1);
  });

  test("leaves no process behind", async () => {
    const { pool, run } = open(worker(`sleep 60 & echo "{\\"id\\":$id,\\"result\\":$$}"`));
    const pid = (await run(1)) as number;
    await pool.close();
    const { stdout } = spawnSync("ps", ["-eo", "pgid=,stat="], { encoding: "utf8" });
    const left = stdout.split("\n").filter((line) => Number.parseInt(line) === pid && !line.includes("Z"));
    expect(left).toEqual([]);
  });

  test("refuses a command that no shell can read", () => {
    const opened = PipePool.open({
      command: "while (",
      size: 1,
      cwd: "/",
      env: {},
      timedOut: () => new Error("late"),
      onBroken: () => {},
    });
    expect(opened).toMatchObject({ ok: false, error: { kind: "InvalidCommand" } });
  });
});

test("what was opened for processes that were never needed is closed", async () => {
  const openCount = (): number => readdirSync("/proc/self/fd").length;
  const before = openCount();
  const { pool, run } = open(worker(ANSWER), { size: 8 });
  expect(await run(1)).toBe(1);
  await pool.close();
  await expect.poll(openCount).toBeLessThanOrEqual(before);
});
