// A line that lies across the border of two ranges, or of two pieces of the file, must be read by one worker and whole. Off by
// one here loses a line or does it twice in every shard.

import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeHint, encodeKey, ManifestRowKey } from "@gossip/frontier";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { ItemProblem, ReadRequest } from "../source.ts";
import { describeSource } from "../../testing/index.ts";
import { manifestPrefix } from "./line-offsets.ts";
import { linesSource, type LinesOptions } from "./lines-source.ts";
import { NEWLINE, readLines } from "./read-lines.ts";
import { linesOf, makeFile, type TemporaryFile } from "./temporary-file.fixture.ts";

const NONE = new Uint8Array(0);
const EVERYTHING = { start: NONE, end: NONE };
/** Of the pieces that are read. */
const CHUNK = 256 * 1024;

const files: TemporaryFile[] = [];

function newFile(content: string | Uint8Array): TemporaryFile {
  const file = makeFile(content);
  files.push(file);
  return file;
}

afterEach(() => {
  for (const file of files.splice(0)) file.dispose();
});

const key = (row: number | bigint, manifestId = 0n): Uint8Array =>
  encodeKey(new ManifestRowKey({ manifestId, row: BigInt(row) }));

function fixture(content: string, manifestId?: bigint) {
  const file = makeFile(content);
  const source = linesSource({ path: file.path, ...(manifestId === undefined ? {} : { manifestId }) });
  const keys = linesOf(Buffer.from(content)).map(({ offset }) => key(offset, manifestId));
  return { source, keys, openHandleCount: () => file.openHandleCount(), dispose: () => file.dispose() };
}

describeSource("lines", () => fixture("one\ntwo\r\n\n\nfive\n\r\nseven\neight\nnine\nten\n"), {
  describe,
  expect,
  test,
});
describeSource(
  "lines of another manifest, without an end",
  () => fixture(`a\nb\n\nc\nd\n${"e".repeat(50)}\nf\ng\nh\ni`, (1n << 64n) - 1n),
  { describe, expect, test },
);
describeSource(
  "many lines",
  () => fixture(Array.from({ length: 9000 }, (_, index) => `${index} ${"x".repeat(index % 9)}`).join("\n")),
  { describe, expect, test },
);

describeSource(
  "entries with a zero byte behind each, empty ones left out",
  () => {
    const content = "z\0one\ntwo\0\0\0five\r\0six\0\0eight\0nine\0a\0b";
    const file = makeFile(content);
    const source = linesSource({ path: file.path, separator: "nul", skipsEmpty: true });
    let offset = 0;
    const keys: Uint8Array[] = [];
    for (const entry of content.split("\0")) {
      if (entry !== "") keys.push(key(offset));
      offset += entry.length + 1;
    }
    return { source, keys, openHandleCount: () => file.openHandleCount(), dispose: () => file.dispose() };
  },
  { describe, expect, test },
);

interface Read {
  readonly lines: readonly { readonly offset: number; readonly text: string }[];
  readonly problems: readonly ItemProblem[];
}

async function read(options: LinesOptions, request: Partial<ReadRequest> = {}): Promise<Read> {
  const lines: { offset: number; text: string }[] = [];
  const problems: ItemProblem[] = [];
  for await (const batch of linesSource(options).read({
    range: EVERYTHING,
    signal: new AbortController().signal,
    ...request,
  })) {
    for (const { offset, bytes } of batch.items) lines.push({ offset, text: Buffer.from(bytes).toString("latin1") });
    problems.push(...(batch.problems ?? []));
  }
  return { lines, problems };
}

const expected = (content: string | Buffer) =>
  linesOf(Buffer.from(content)).map(({ offset, bytes }) => ({ offset, text: bytes.toString("latin1") }));

describe("reading lines", () => {
  // Mostly ends of lines, and bytes that are no text.
  const content = fc
    .array(fc.constantFrom("a", "\n", "\r", "\n", "\xff", "b"), { maxLength: 40 })
    .map((parts) => Buffer.from(parts.join(""), "latin1"));

  test("gives to every range the lines that begin in it, whole", async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.nat(45), fc.nat(45), async (bytes, a, b) => {
        const file = makeFile(bytes);
        try {
          const end = Math.min(Math.max(a, b), bytes.length);
          const start = Math.min(a, b, end);
          const { lines } = await read({ path: file.path }, { range: { start: key(start), end: key(end) } });
          expect(lines).toEqual(expected(bytes).filter(({ offset }) => offset >= start && offset < end));
        } finally {
          file.dispose();
        }
      }),
      { numRuns: 300 },
    );
  });

  test("finds every line around the borders of pieces", async () => {
    for (const shift of [-3, -2, -1, 0, 1, 2]) {
      for (const ending of ["\n", "\r\n"]) {
        const text = `${"x".repeat(CHUNK + shift - ending.length)}${ending}second${ending}${"y".repeat(CHUNK - 10)}${ending}${"z".repeat(3 * CHUNK)}${ending}last`;
        const file = newFile(text);
        expect((await read({ path: file.path })).lines).toEqual(expected(text));
      }
    }
  });

  test("begins at any byte of a large file without what is before it", async () => {
    const text = Array.from({ length: 100_000 }, (_, index) => `line ${index}`).join("\n");
    const file = newFile(text);
    const all = expected(text);
    for (const offset of [1, CHUNK - 1, CHUNK, CHUNK + 1, text.length - 5, text.length - 1]) {
      const { lines } = await read({ path: file.path }, { range: { start: key(offset), end: NONE } });
      expect(lines).toEqual(all.filter((line) => line.offset >= offset));
    }
  });

  test("reads a small part of a large file at once, and not much more than the part", async () => {
    const text = "0123456789\n".repeat(200_000);
    const handle = await openFile(newFile(text).path);
    const sizes: number[] = [];
    const read = (bytes: Buffer, offset: number, length: number, position: number) => {
      sizes.push(length);
      return handle.read(bytes, offset, length, position);
    };
    const { signal } = new AbortController();
    const form = { separator: NEWLINE, skipsEmpty: false };
    const part = { prefix: manifestPrefix(0n), from: 1_000_000, end: 1_001_000, maxLineSize: 100, signal, form };
    const offsets: number[] = [];
    for await (const { items } of readLines({ handle: { read } as never, ...part }))
      for (const { offset } of items) offsets.push(offset);
    await handle.close();
    expect(offsets).toEqual(Array.from({ length: 90 }, (_, index) => 1_000_010 + 11 * index));
    expect(sizes.length).toBe(1);
    expect(sizes[0]).toBeLessThan(8192);
  });

  test("takes a line of a multi-byte text whole, and says what is no text with U+FFFD", async () => {
    const file = newFile(Buffer.concat([Buffer.from("grüße ⛵\n"), Buffer.from([0xff, 0x0a])]));
    const lines: string[] = [];
    for await (const { items } of linesSource({ path: file.path }).read({
      range: EVERYTHING,
      signal: new AbortController().signal,
    })) {
      for (const { line } of items) lines.push(line);
    }
    expect(lines).toEqual(["grüße ⛵", "\ufffd"]);
  });

  test("has no line in a file without bytes, and one in a file with a newline", async () => {
    expect((await read({ path: newFile("").path })).lines).toEqual([]);
    expect((await read({ path: newFile("\n").path })).lines).toEqual([{ offset: 0, text: "" }]);
  });

  test.each([
    { what: "in the middle", around: ["before\n", "\nafter\n"] as const },
    { what: "at the end, without an ending", around: ["before\n", ""] as const },
    { what: "at the start", around: ["", "\r\nafter"] as const },
  ])("tells of a line that is too long and passes over it: $what", async ({ around: [before, after] }) => {
    for (const [size, maxLineSize] of [
      [11, 10],
      [CHUNK + 1, CHUNK],
      [CHUNK * 5, CHUNK * 2],
      [CHUNK * 3, 10],
    ] as const) {
      const text = `${before}${"x".repeat(size)}${after}`;
      const { lines, problems } = await read({ path: newFile(text).path, maxLineSize });
      expect(lines).toEqual(expected(text).filter((line) => line.offset !== before.length));
      expect(problems).toEqual([{ key: key(before.length), reason: `a line has more than ${maxLineSize} bytes` }]);
    }
  });

  test("takes a line that is just as long as allowed", async () => {
    for (const maxLineSize of [10, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]) {
      for (const ending of ["", "\n", "\r\n", "\r\nx"]) {
        const text = `${"x".repeat(maxLineSize)}${ending}`;
        expect(await read({ path: newFile(text).path, maxLineSize })).toEqual({ lines: expected(text), problems: [] });
      }
    }
  });

  test("takes ranges of other manifests for what they are: before all lines, or behind them", async () => {
    const { path } = newFile("a\nb\n");
    const all = expected("a\nb\n");
    expect((await read({ path, manifestId: 5n }, { range: { start: key(9, 4n), end: NONE } })).lines).toEqual(all);
    expect((await read({ path, manifestId: 5n }, { range: { start: key(0, 6n), end: NONE } })).lines).toEqual([]);
    expect((await read({ path, manifestId: 5n }, { range: { start: NONE, end: key(0, 5n) } })).lines).toEqual([]);
  });
});

describe("a file that changes", () => {
  test("is refused where it has become shorter than the plan", async () => {
    const { path } = newFile("one\ntwo\nthree\n");
    const [spec] = unwrap(await linesSource({ path }).plan({ shardCount: 1 }));
    truncateSync(path, 8);
    const range = { start: spec!.keyRangeStart, end: spec!.keyRangeEnd };
    await expect(read({ path }, { range })).rejects.toMatchObject({ name: "SourceReadFailed", kind: "SourceInvalid" });
  });

  test("is refused where it becomes shorter while it is read", async () => {
    const text = "0123456789\n".repeat(60_000);
    const { path } = newFile(text);
    const [spec] = unwrap(await linesSource({ path }).plan({ shardCount: 1 }));
    const reading = async () => {
      const range = { start: spec!.keyRangeStart, end: spec!.keyRangeEnd };
      for await (const { items } of linesSource({ path }).read({ range, signal: new AbortController().signal })) {
        if (items[0]?.offset === 0) truncateSync(path, 1000);
      }
    };
    await expect(reading()).rejects.toMatchObject({ name: "SourceReadFailed", kind: "SourceInvalid" });
  });

  test("gives what was planned, and not what was added", async () => {
    const { path } = newFile("one\ntwo\n");
    const [spec] = unwrap(await linesSource({ path }).plan({ shardCount: 1 }));
    appendFileSync(path, "three\n");
    expect((await read({ path }, { range: { start: spec!.keyRangeStart, end: spec!.keyRangeEnd } })).lines).toEqual(
      expected("one\ntwo\n"),
    );
  });
});

describe("cutting a file", () => {
  test("gives shards of equal size with the rows that they have", async () => {
    const { path } = newFile("0123456789\n".repeat(100));
    const specs = unwrap(await linesSource({ path, manifestId: 7n }).plan({ shardCount: 3 }));
    expect(specs.map((spec) => unwrap(decodeHint(spec)))).toEqual([
      { kind: "Manifest", manifestId: 7n, startRow: 0n, endRow: 366n },
      { kind: "Manifest", manifestId: 7n, startRow: 366n, endRow: 733n },
      { kind: "Manifest", manifestId: 7n, startRow: 733n, endRow: 1100n },
    ]);
  });

  test("gives one shard of a file without bytes, and it can be read", async () => {
    const { path } = newFile("");
    const specs = unwrap(await linesSource({ path }).plan({ shardCount: 4 }));
    expect(specs.length).toBe(1);
    expect(
      (await read({ path }, { range: { start: specs[0]!.keyRangeStart, end: specs[0]!.keyRangeEnd } })).lines,
    ).toEqual([]);
  });

  test("splits at the line nearest behind the middle of the bytes that remain", async () => {
    const text = "0123456789\n".repeat(100);
    const source = linesSource({ path: newFile(text).path });
    const split = (after: number | undefined) =>
      source.splitPoint!({ range: EVERYTHING, after: after === undefined ? undefined : key(after), samples: [] });
    expect(await split(undefined)).toEqual(key(550));
    expect(await split(550)).toEqual(key(825));
    // Two lines are left, then one, then none.
    expect(await split(1067)).toEqual(key(1089));
    expect(await split(1078)).toEqual(undefined);
    expect(await split(1089)).toEqual(undefined);
  });

  test("splits within a range, not within the file", async () => {
    const source = linesSource({ path: newFile("0\n".repeat(500)).path });
    expect(await source.splitPoint!({ range: { start: key(100), end: key(200) }, samples: [] })).toEqual(key(150));
  });
});

describe("a file that is none", () => {
  test("is an error of the plan, and of a reading", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gossip-lines-"));
    const path = join(folder, "missing");
    expect(await linesSource({ path }).plan({ shardCount: 1 })).toEqual({
      ok: false,
      error: { kind: "SourceMissing", reason: `there is no file ${path}` },
    });
    await expect(read({ path })).rejects.toMatchObject({ kind: "SourceMissing" });
    expect(await linesSource({ path: folder }).plan({ shardCount: 1 })).toMatchObject({
      error: { kind: "SourceInvalid" },
    });
    execFileSync("mkfifo", [path]);
    expect(await linesSource({ path }).plan({ shardCount: 1 })).toMatchObject({ error: { kind: "SourceInvalid" } });
    rmSync(folder, { recursive: true });
    // It has no size and no places: nothing could be resumed.
    expect(await linesSource({ path: "/dev/null" }).plan({ shardCount: 1 })).toMatchObject({
      error: { kind: "SourceInvalid" },
    });
  });

  test.each([
    undefined,
    {},
    { path: "" },
    { path: "x", manifestId: -1n },
    { path: "x", manifestId: 1 },
    { path: "x", maxLineSize: 0 },
  ])("options %o are refused with a sentence", (options) => {
    expect(() => linesSource(options as never)).toThrow(InvariantViolation);
  });
});
