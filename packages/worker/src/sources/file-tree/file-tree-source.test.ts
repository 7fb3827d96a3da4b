// A walk that resumes at a key must find exactly the files after it. A walk whose order is not that of the keys loses files
// without a trace wherever a shard begins or ends, and names on disks are not as tidy as those one thinks of.

import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { compareBytes, InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { ItemProblem, ReadRequest } from "../source.ts";
import { describeSource } from "../../testing/index.ts";
import { FileTreeSource, fileTreeSource, readOptions, type FileTreeOptions } from "./file-tree-source.ts";
import { inTree, makeTree, type TemporaryTree } from "./temporary-tree.fixture.ts";

const NONE = new Uint8Array(0);
const EVERYTHING = { start: NONE, end: NONE };

/** Names that sort around the slash, links in a chain of prefixes, line ends, and bytes that are no text. */
const AWKWARD = [
  "a.txt",
  "a/b",
  "a/b.c",
  "a/c/d",
  "a/c/d.e",
  "a/c0",
  "a0",
  "b\nc",
  "b\n/d",
  "caf\xc3\xa9/x",
  "caf\xe9/x",
  "e/\xff\xfe",
  "\xff/\xff",
  " ",
  "-rf",
  "z/y/x/w/v/u",
  "z/y/x/w.v",
  "z/y/x.w",
  "z/y.x",
  "z.y",
  "zz",
];

const trees: TemporaryTree[] = [];

function newTree(paths: readonly string[] = []): TemporaryTree {
  const tree = makeTree(paths);
  trees.push(tree);
  return tree;
}

afterEach(() => {
  for (const tree of trees.splice(0)) tree.dispose();
});

function fixture(options: Partial<FileTreeOptions> = {}) {
  const tree = makeTree(AWKWARD);
  return {
    source: fileTreeSource({ root: tree.root, ...options }),
    keys: tree.keys(),
    openHandleCount: () => tree.openHandleCount(),
    dispose: () => tree.dispose(),
  };
}

describeSource("a file tree", () => fixture(), { describe, expect, test });
describeSource("a file tree whose folders are larger than what may be held", () => fixture({ namesHeld: 1 }), {
  describe,
  expect,
  test,
});

interface Read {
  readonly paths: readonly string[];
  readonly problems: readonly ItemProblem[];
}

async function read(options: FileTreeOptions, request: Partial<ReadRequest> = {}): Promise<Read> {
  const paths: string[] = [];
  const problems: ItemProblem[] = [];
  const { signal } = new AbortController();
  for await (const batch of fileTreeSource(options).read({ range: EVERYTHING, signal, ...request })) {
    for (const { key } of batch.items) paths.push(Buffer.from(key).toString("latin1"));
    problems.push(...(batch.problems ?? []));
  }
  return { paths, problems };
}

const bytes = (path: string): Uint8Array => new Uint8Array(Buffer.from(path, "latin1"));

describe("reading a tree", () => {
  // Few characters on either side of the slash, so that files and folders sort next to each other.
  const name = fc
    .string({ unit: fc.constantFrom("a", ".", "0", "\xff", "\n"), minLength: 1, maxLength: 3 })
    .filter((text) => !/^\.+$/.test(text));
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));

  test("gives what a plain walk gives, from any key to any other, however many names may be held", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(path, { maxLength: 24 }),
        path,
        path,
        fc.integer({ min: 1, max: 4 }),
        async (paths, from, to, namesHeld) => {
          const tree = makeTree();
          try {
            for (const one of paths) writeIfFree(tree, one);
            const [start, end] = [bytes(from), bytes(to)];
            const { paths: found, problems } = await read(
              { root: tree.root, namesHeld },
              { range: { start, end: compareBytes(start, end) < 0 ? end : NONE } },
            );
            const expected = tree
              .paths()
              .filter(
                (one) =>
                  compareBytes(bytes(one), start) >= 0 &&
                  (compareBytes(start, end) >= 0 || compareBytes(bytes(one), end) < 0),
              );
            expect(found).toEqual(expected);
            expect(problems).toEqual([]);
          } finally {
            tree.dispose();
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("agrees with find", async () => {
    const tree = newTree(AWKWARD);
    const found = execFileSync("find", [tree.root, "-type", "f", "-print0"], { encoding: "latin1" })
      .split("\0")
      .slice(0, -1);
    const { paths } = await read({ root: tree.root });
    expect(paths.map((one) => `${tree.root}/${one}`)).toEqual(found.sort((a, b) => compareBytes(bytes(a), bytes(b))));
  });

  test("looks at no folder and at no name that lies wholly before the key it goes on from", async () => {
    const folders = Array.from({ length: 50 }, (_, index) => String(index).padStart(2, "0"));
    const tree = newTree(folders.flatMap((folder) => [`${folder}/x/1`, `${folder}/x/2`, `${folder}/y`]));
    const asked: string[] = [];
    const exclude = ({ path: one }: { readonly path: string | undefined }) => asked.push(one!) === 0;
    await read({ root: tree.root, exclude }, { after: bytes("48/x/1") });
    expect(asked).toEqual(["48", "48/x", "48/x/2", "48/y", "49", "49/x", "49/x/1", "49/x/2", "49/y"]);
  });

  test("leaves out links, whatever they lead to, pipes and sockets", async () => {
    const tree = newTree(["file", "folder/file"]);
    symlinkSync("file", join(tree.root, "link-to-file"));
    symlinkSync("folder", join(tree.root, "link-to-folder"));
    symlinkSync(".", join(tree.root, "link-to-itself"));
    symlinkSync("nowhere", join(tree.root, "link-to-nothing"));
    execFileSync("mkfifo", [join(tree.root, "pipe")]);
    const server = createServer().listen(join(tree.root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    const result = await read({ root: tree.root });
    await new Promise((resolve) => server.close(resolve));
    expect(result).toEqual({ paths: ["file", "folder/file"], problems: [] });
  });

  test("enters no folder that is excluded and gives no file that is", async () => {
    const tree = newTree(["a/keep", "a/skip", "node_modules/x/y", "z"]);
    const exclude = ({ path: one, isFolder }: { readonly path: string | undefined; readonly isFolder: boolean }) =>
      isFolder ? one === "node_modules" : one!.endsWith("skip");
    expect((await read({ root: tree.root, exclude })).paths).toEqual(["a/keep", "z"]);
  });

  test("lets out what an exclusion throws, wherever it is asked", async () => {
    const tree = newTree(["a/b"]);
    const failure = new Error("no");
    const exclude = () => {
      throw failure;
    };
    const source = fileTreeSource({ root: tree.root, exclude });
    await expect(read({ root: tree.root, exclude })).rejects.toBe(failure);
    await expect(source.plan({ shardCount: 2 })).rejects.toBe(failure);
    await expect(source.splitPoint!({ range: EVERYTHING, samples: [] })).rejects.toBe(failure);
  });

  test("tells paths as text only where they are text, and always as bytes", async () => {
    const tree = newTree(["caf\xe9", "ok"]);
    const items = [];
    for await (const batch of fileTreeSource({ root: tree.root }).read({
      range: EVERYTHING,
      signal: new AbortController().signal,
    }))
      items.push(...batch.items);
    expect(items.map(({ path: one }) => one)).toEqual([undefined, join(tree.root, "ok")]);
    expect(items.map(({ relativePath }) => relativePath)).toEqual([undefined, "ok"]);
    expect(items.map(({ pathBytes }) => pathBytes)).toEqual([inTree(tree.root, "caf\xe9"), inTree(tree.root, "ok")]);
  });
});

describe("folders that cannot be read", () => {
  /** A tree in which `b` is replaced, once its name has been seen. */
  function troubledTree(trouble: (folder: string) => void): FileTreeOptions {
    const tree = newTree(["a/1", "b/1", "b/2", "c/1"]);
    let isDone = false;
    const exclude = ({ path: one }: { readonly path: string | undefined }) => {
      if (one !== "b" || isDone) return false;
      isDone = true;
      rmSync(join(tree.root, "b"), { recursive: true });
      trouble(join(tree.root, "b"));
      return false;
    };
    return { root: tree.root, exclude };
  }

  test("because they are gone, or are a file or a link by now, hold nothing and are no problem", async () => {
    expect(await read({ ...troubledTree(() => undefined), onUnreadable: "stop" })).toEqual({
      paths: ["a/1", "c/1"],
      problems: [],
    });
    for (const replace of [(folder: string) => writeFileSync(folder, ""), (folder: string) => symlinkSync("c", folder)])
      expect(await read({ ...troubledTree(replace), onUnreadable: "stop" })).toEqual({
        paths: ["a/1", "c/1"],
        problems: [],
      });
  });

  test("are reported as unreadable", async ({ skip }) => {
    skip(process.getuid?.() === 0, "root may read every folder");
    const tree = newTree(["a/1", "b/1"]);
    execFileSync("chmod", ["000", join(tree.root, "b")]);
    const { paths, problems } = await read({ root: tree.root });
    execFileSync("chmod", ["700", join(tree.root, "b")]);
    expect(paths).toEqual(["a/1"]);
    expect(problems.map(({ reason }) => reason)).toEqual(["a folder cannot be read: permission denied (EACCES)"]);
  });

  test("and paths longer than a key may be are reported, and what comes after them is still found", async () => {
    const tree = newTree(["a", "z"]);
    const half = Array.from({ length: 9 }, () => "d".repeat(250)).join("/");
    // No system call takes such a path whole, so one half is put below the other.
    tree.write(`above/${half}/file`);
    tree.write(`below/${half}/file`);
    renameSync(join(tree.root, "below"), join(tree.root, "above", half, "below"));
    const { paths, problems } = await read({ root: tree.root });
    const plan = await fileTreeSource({ root: tree.root }).plan({ shardCount: 8 });
    execFileSync("rm", ["-rf", join(tree.root, "above")]);
    expect(plan.ok).toBe(true);
    expect(paths).toEqual(["a", `above/${half}/file`, "z"].sort());
    expect(problems.length).toBe(1);
    expect(problems[0]!.reason).toMatch(/too long/);
  });
});

describe("a root that is none", () => {
  const plan = (root: string) => fileTreeSource({ root }).plan({ shardCount: 2 });

  test("is an error of the plan, and of a reading", async () => {
    const tree = newTree(["file"]);
    const missing = join(tree.root, "missing");
    expect(await plan(missing)).toEqual({
      ok: false,
      error: { kind: "SourceMissing", reason: `there is no folder ${missing}` },
    });
    expect(await plan(join(tree.root, "file"))).toMatchObject({ error: { kind: "SourceInvalid" } });
    // Not an empty tree: a disk that is not mounted must not make a run done.
    await expect(read({ root: missing })).rejects.toMatchObject({ kind: "SourceMissing" });
  });

  test("is refused with a sentence where it is no path", () => {
    expect(() => fileTreeSource({ root: "" })).toThrow(InvariantViolation);
    expect(() => fileTreeSource(undefined as never)).toThrow(InvariantViolation);
    expect(() => fileTreeSource({ root: "x", onUnreadable: "park" as never })).toThrow(InvariantViolation);
  });
});

describe("cutting a tree", () => {
  /** How many of the keys each shard of a plan has. */
  async function shares(
    tree: TemporaryTree,
    shardCount: number,
    source = fileTreeSource({ root: tree.root }),
  ): Promise<readonly number[]> {
    const specs = unwrap(await source.plan({ shardCount }));
    const keys = tree.keys();
    return specs.map(
      ({ keyRangeStart, keyRangeEnd }) =>
        keys.filter((key) => compareBytes(key, keyRangeStart) >= 0 && compareBytes(key, keyRangeEnd) < 0).length,
    );
  }

  test("an empty tree has one shard", async () => {
    expect(unwrap(await fileTreeSource({ root: newTree().root }).plan({ shardCount: 8 })).length).toBe(1);
  });

  test("folders of equal size are dealt out evenly, without a look at most of them", async () => {
    const tree = newTree(Array.from({ length: 3000 }, (_, index) => `${Math.floor(index / 10)}/${index}`));
    const counts = await shares(tree, 4);
    expect(counts.length).toBe(4);
    expect(Math.max(...counts)).toBeLessThanOrEqual(850);
    let asked = 0;
    const exclude = () => asked++ < 0;
    unwrap(await fileTreeSource({ root: tree.root, exclude }).plan({ shardCount: 4 }));
    expect(asked).toBeLessThan(1000);
  });

  test("one folder with everything in it is cut by its names, and what remains of it in half", async () => {
    const tree = newTree();
    mkdirSync(join(tree.root, "deep/hot"), { recursive: true });
    // More than twice as many as it is judged by.
    const count = 4000;
    const source = new FileTreeSource({ ...readOptions({ root: tree.root }), namesSampled: 1600 });
    execFileSync("sh", ["-c", `seq ${count} | xargs touch`], { cwd: join(tree.root, "deep/hot") });
    const counts = await shares(tree, 8, source);
    expect(counts.length).toBe(8);
    expect(Math.max(...counts)).toBeLessThanOrEqual((count / 8) * 1.1);

    const keys = tree.keys();
    expect((await read({ root: tree.root, namesHeld: 1500 })).paths.join("\n")).toBe(tree.paths().join("\n"));
    const after = keys[1000]!;
    const point = await source.splitPoint({ range: EVERYTHING, after, samples: [] });
    const below = keys.filter((key) => compareBytes(key, after) > 0 && compareBytes(key, point!) < 0).length;
    expect(Math.abs(below - 1500)).toBeLessThan(100);
  });

  test("one large folder among many files and small folders is cut too", async () => {
    const many = Array.from({ length: 200 }, (_, index) => `file-${index}`);
    const small = Array.from({ length: 20 }, (_, index) => `folder-${index}/file`);
    const large = Array.from({ length: 2000 }, (_, index) => `hot/file-${index}`);
    const counts = await shares(newTree([...many, ...small, ...large]), 4);
    expect(Math.max(...counts)).toBeLessThan(600);
  });

  test("a split leaves something on either side, as long as two files remain", async () => {
    const tree = newTree(AWKWARD);
    const keys = tree.keys();
    const source = fileTreeSource({ root: tree.root });
    for (const [index, after] of keys.entries()) {
      const point = await source.splitPoint!({ range: EVERYTHING, after, samples: [] });
      const rest = keys.slice(index + 1);
      if (rest.length < 2) expect(point).toBe(undefined);
      else
        expect(rest.filter((key) => compareBytes(key, point!) < 0).length).toSatisfy(
          (below: number) => below > 0 && below < rest.length,
        );
    }
  });
});

function writeIfFree(tree: TemporaryTree, path: string): void {
  try {
    tree.write(path);
  } catch {
    // A file where a folder is wanted, or the other way about.
  }
}
