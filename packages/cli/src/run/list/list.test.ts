// A list from a pipe can be read only once. If it were not stored whole before the work begins, a crash would lose the
// entries that were not done, and no one could find out which.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gossipLine } from "../../commands/command-line.fixture.ts";
import { EntrySet } from "./entry-set.ts";
import { isListWhole, listFile, spoolList } from "./spool-list.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "gossip-list-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* inChunks(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const spool = (input: AsyncIterable<Uint8Array>, isUnique = false, signal?: AbortSignal) =>
  spoolList({ folder, input, separator: 0, isUnique, signal });

describe("storing a list", () => {
  test("keeps every byte, and finds it again by its name", async () => {
    const digest = unwrap(await spool(inChunks("a\0b", "b\0\0c\nd")));
    expect(readFileSync(listFile(folder, digest), "utf8")).toBe("a\0bb\0\0c\nd");
    expect(await isListWhole(folder, digest)).toBe(true);
    writeFileSync(listFile(folder, digest), "a\0bb\0\0c\ne");
    expect([await isListWhole(folder, digest), await isListWhole(folder, "0")]).toEqual([false, false]);
  });

  test("drops repeated entries wherever the input is cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "ab", "\0", "\0"), { maxLength: 12 }), async (chunks) => {
        const digest = unwrap(await spool(inChunks(...chunks), true));
        const kept = readFileSync(listFile(folder, digest), "utf8");
        const entries = chunks.join("").split("\0");
        if (entries.at(-1) === "") entries.pop();
        expect(kept).toBe([...new Set(entries)].map((entry) => `${entry}\0`).join(""));
      }),
      { numRuns: 50 },
    );
  });

  test("leaves nothing if it is interrupted, even while the program before the pipe is silent", async () => {
    const abort = new AbortController();
    const silent = (async function* () {
      yield Buffer.from("a\0");
      setImmediate(() => abort.abort());
      await new Promise(() => {});
    })();
    expect(await spool(silent, false, abort.signal)).toEqual({ ok: true, value: "Aborted" });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is an error with a next step if there is no room for it", async () => {
    const broken: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(Object.assign(new Error("no space"), { code: "ENOSPC" })),
      }),
    };
    expect(await spool(broken)).toMatchObject({ ok: false, error: { message: expect.stringContaining("ENOSPC") } });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a set of entries knows each of many thousands", () => {
    const seen = new EntrySet();
    for (let round = 0; round < 2; round++)
      for (let n = 0; n < 5000; n++) expect(seen.add(Buffer.from(`entry ${n}`))).toBe(round === 0);
    expect(seen.size).toBe(5000);
  });
});

describe("gossip run --source list:", () => {
  const entries = ["z last", "a first", "two\nlines", "", "a first", "'quoted' $HOME", "naïve"];
  const args = ["run", "--store", "store", "-0", "--exec", "printf %s {}", "--out", "out.ndjson", "--workers", "2"];
  const done = (): unknown[] =>
    readFileSync(join(folder, "out.ndjson"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly stdout: string }).stdout);
  const lists = (): string[] => readdirSync(join(folder, "store", "lists"));

  test("takes entries from stdin in their order, repeated ones too, and removes the list when all are done", async () => {
    const stdin = inChunks(entries.join("\0"));
    const { code, stderr } = await gossipLine([...args, "--source", "list:-"], { cwd: folder, stdin });
    expect([code, stderr]).toEqual([0, expect.stringContaining("Done: 6 items")]);
    expect(done()).toEqual(entries.filter((entry) => entry !== ""));
    expect(lists()).toEqual([]);
  });

  test("drops repeated entries of a file with --unique", async () => {
    writeFileSync(join(folder, "list"), entries.join("\0"));
    const { code } = await gossipLine([...args, "--source", "list:list", "--unique"], { cwd: folder });
    expect([code, done()]).toEqual([0, [...new Set(entries)].filter((entry) => entry !== "")]);
  });

  test("goes on without stdin where it was stopped, and retries from the stored list", async () => {
    const stdin = inChunks(Array.from({ length: 40 }, (_, n) => `${n}\n`).join(""));
    writeFileSync(join(folder, "fails"), "");
    const work = ["--exec", "test ! -e fails || test {} -lt 20", "--retries", "0", "--on-fail", "skip"];
    const run = ["run", "--store", "store", "--source", "list:-", ...work];
    const stopped = await gossipLine([...run, "--max-failures", "3", "--workers", "1"], { cwd: folder, stdin });
    expect([stopped.code, stopped.stderr]).toEqual([expect.any(Number), expect.stringContaining("--max-failures")]);
    expect(lists()).toHaveLength(1);
    const resumed = await gossipLine(run, { cwd: folder });
    expect([resumed.code, resumed.stderr]).toEqual([3, expect.stringMatching(/40 items.*20 of them failed/)]);
    rmSync(join(folder, "fails"));
    const retried = await gossipLine(["retry", "--store", "store"], { cwd: folder });
    expect([retried.code, retried.stderr]).toEqual([0, expect.stringContaining("no failures any more")]);
    expect(lists()).toEqual([]);
  });

  test("says that it does not read another list, whether the run goes on or is done", async () => {
    const run = [
      "run",
      "--store",
      "store",
      "--source",
      "list:-",
      "--exec",
      "test ! -e fails || test {} = x",
      "--on-fail",
      "park",
    ];
    writeFileSync(join(folder, "fails"), "");
    const other = () => ({ cwd: folder, stdin: inChunks("b\n") });
    const first = await gossipLine(run, { cwd: folder, stdin: inChunks("a\n") });
    expect(first.stderr).not.toContain("stdin is not read");
    rmSync(join(folder, "fails"));
    await gossipLine(["unpark", "--all", "--store", "store"], { cwd: folder });
    expect((await gossipLine(run, other())).stderr).toMatch(/stdin is not read: [^]*Done: 1 item/);
    expect((await gossipLine(run, other())).stderr).toMatch(/stdin is not read: [^]*Done before: all 1 item/);
    expect((await gossipLine(run, { cwd: folder })).stderr).not.toContain("stdin is not read");
    expect((await gossipLine([...run, "--again"], other())).stderr).not.toContain("stdin is not read");
  });

  test("says so if there is no stdin, or if the stored list is gone", async () => {
    const run = ["run", "--store", "store", "--source", "list:-", "--exec", "false", "--on-fail", "park"];
    expect((await gossipLine(run, { cwd: folder })).stderr).toContain("pipe one in");
    await gossipLine(run, { cwd: folder, stdin: inChunks("a\n") });
    for (const file of lists()) rmSync(join(folder, "store", "lists", file));
    expect((await gossipLine(run, { cwd: folder })).stderr).toContain("the list of this run is not in");
  });

  test("is shown by a dry run, which keeps nothing", async () => {
    const stdin = inChunks("a\0b\0");
    const { stdout } = await gossipLine([...args, "--source", "list:-", "--dry-run"], { cwd: folder, stdin });
    expect([stdout, readdirSync(folder)]).toEqual(["printf %s a\nprintf %s b\n", []]);
  });
});
