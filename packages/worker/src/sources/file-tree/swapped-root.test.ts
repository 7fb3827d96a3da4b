// Someone who can write to the folder above a tree can replace the whole tree by a link, or by another folder, while it is
// worked on. If the source followed, it would process files of the attacker's choice with the rights of the user who runs it.

import { mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runWorkers } from "../../runtime/run-workers.ts";
import { startRun } from "../../runtime/start-run.ts";
import { RUN } from "../../runtime/world.fixture.ts";
import type { Source } from "../source.ts";
import { SourceReadFailed } from "../source-read-failed.ts";
import type { FileItem } from "./file-item.ts";
import { fileTreeSource, FileTreeSource, readOptions } from "./file-tree-source.ts";
import { listDirectory } from "./list-directory.ts";
import { startAttacker } from "./swapping-attacker.fixture.ts";
import { inTree, makeTree, type TemporaryTree } from "./temporary-tree.fixture.ts";
import { TreeFolders } from "./tree-folders.ts";
import { RootLost, TreeRoot } from "./tree-root.ts";

const NONE = new Uint8Array(0);
const EVERYTHING = { start: NONE, end: NONE };
const WALKS = 300;

let world: TemporaryTree;
const at = (path: string): string => join(world.root, path);

beforeEach(() => {
  world = makeTree();
  for (const tree of ["tree", "outside"]) {
    for (const path of ["a/both", "z"]) world.write(`${tree}/${path}`);
    for (const path of ["a/both", "z"]) writeFileSync(at(`${tree}/${path}`), tree);
  }
  world.write("outside/secret");
});

afterEach(() => world.dispose());

async function itemsOf(source: Source<FileItem>): Promise<FileItem[]> {
  const found: FileItem[] = [];
  const { signal } = new AbortController();
  for await (const { items } of source.read({ range: EVERYTHING, signal })) found.push(...items);
  return found;
}

async function contentOf(item: FileItem): Promise<string> {
  await using handle = await item.open();
  return handle.readFile("utf8");
}

const pathsOf = (items: readonly FileItem[]) => items.map(({ relativePath }) => relativePath);

/** Ways to put something else in the place of the tree. */
const REPLACEMENTS: Readonly<Record<string, () => void>> = {
  "a link to another folder": () => symlinkSync(at("outside"), at("tree")),
  "a link to itself, elsewhere": () => symlinkSync(at("moved"), at("tree")),
  "another folder": () => renameSync(at("outside"), at("tree")),
  "an empty folder": () => mkdirSync(at("tree")),
  "a file": () => writeFileSync(at("tree"), ""),
};

describe.each(Object.entries(REPLACEMENTS))("a root that is replaced by %s", (_name, replace) => {
  test("is refused everywhere, until it is put back", async () => {
    const source = fileTreeSource({ root: at("tree") });
    const items = await itemsOf(source);
    expect(pathsOf(items)).toEqual(["a/both", "z"]);
    renameSync(at("tree"), at("moved"));
    replace();
    const refusal = {
      kind: "SourceUnreadable",
      reason: `something else has taken the place of the folder ${at("tree")}`,
    };
    for (const item of items) await expect(item.open()).rejects.toMatchObject({ name: "RootLost", code: "ENOTDIR" });
    await expect(itemsOf(source)).rejects.toMatchObject({ name: "SourceReadFailed", error: refusal });
    expect(await source.plan({ shardCount: 2 })).toEqual({ ok: false, error: refusal });
    expect(await source.splitPoint!({ range: EVERYTHING, samples: [] })).toBe(undefined);
    expect(world.openHandleCount()).toBe(0);

    renameSync(at("tree"), at("other"));
    renameSync(at("moved"), at("tree"));
    expect(await Promise.all(items.map(contentOf))).toEqual(["tree", "tree"]);
    expect(pathsOf(await itemsOf(source))).toEqual(["a/both", "z"]);
  });

  test("is no path to give to a program", async () => {
    const items = await itemsOf(fileTreeSource({ root: at("tree") }));
    await Promise.all(items.map((item) => item.checkPath()));
    renameSync(at("tree"), at("moved"));
    replace();
    for (const item of items) await expect(item.checkPath()).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  test("is refused from the moment on that the source is made", async () => {
    const source = fileTreeSource({ root: at("tree") });
    renameSync(at("tree"), at("moved"));
    replace();
    await expect(itemsOf(source)).rejects.toMatchObject({ kind: "SourceUnreadable" });
  });

  test.each([true, false])("is refused for the folders below it, by descriptor: %s", async (hasDescriptors) => {
    const root = new TreeRoot(inTree(world.root, "tree"));
    expect(root.tryPin()).toBe(true);
    renameSync(at("tree"), at("moved"));
    replace();
    const folders = new TreeFolders(root, { hasDescriptors });
    for (const prefix of ["", "a/"])
      await expect(folders.use(Buffer.from(prefix), async () => "used")).rejects.toMatchObject({ name: "RootLost" });
    folders.close();
  });

  test("is noticed while a folder below it is read by path", async () => {
    const folders = new TreeFolders(new TreeRoot(inTree(world.root, "tree")), { hasDescriptors: false });
    const used = folders.use(Buffer.from("a/"), async () => {
      renameSync(at("tree"), at("moved"));
      replace();
    });
    await expect(used).rejects.toMatchObject({ name: "RootLost", code: "ENOTDIR" });
  });
});

test("a root that is swapped with a link all the time never leads out of the tree", async () => {
  const source = fileTreeSource({ root: at("tree") });
  symlinkSync(at("outside"), at("link"));
  const attacker = await startAttacker({ folder: at("tree"), link: at("link"), spare: at("spare") });
  const seen = new Set<string>();
  try {
    // Both states are met by construction: it goes on until a reading and an opening were accepted and refused.
    const wanted = ["a/both", "tree", "SourceUnreadable", "ENOTDIR"];
    for (let walks = 0; walks < WALKS || !wanted.every((one) => seen.has(one)); walks++) {
      try {
        const items = await itemsOf(source);
        for (const path of pathsOf(items)) seen.add(path!);
        for (const item of items)
          seen.add(await contentOf(item).catch((thrown: NodeJS.ErrnoException) => thrown.code ?? "no code"));
      } catch (thrown) {
        seen.add(thrown instanceof SourceReadFailed ? thrown.kind : String(thrown));
      }
    }
  } finally {
    await attacker.stop();
  }
  // Between two renames there is nothing at all.
  const allowed = ["a/both", "z", "tree", "SourceUnreadable", "ENOTDIR", "SourceMissing", "ENOENT"];
  expect([...seen].filter((one) => !allowed.includes(one))).toEqual([]);
});

test("a run whose root is replaced while it works is not done, and passes over next to nothing", async () => {
  const count = 2000;
  for (let n = 0; n < count; n++) writeFileSync(at(`tree/file-${n}`), "tree");
  const source = fileTreeSource({ root: at("tree") });
  const coordinator = new Coordinator({ store: new MemoryStore(), clock: systemClock(Date.now) });
  unwrap(await startRun({ coordinator, run: RUN, source, config: { leaseDuration: 30_000n }, shardCount: 1 }));
  const contents = new Set<string>();
  let read = 0;
  const summary = await runWorkers({
    coordinator,
    run: RUN,
    source,
    patienceMs: 0,
    onItemFailure: "skip",
    retry: { maxAttempts: 1 },
    readRetry: { maxAttempts: 1 },
    process: async (item: FileItem) => {
      if (read++ === 10) {
        renameSync(at("tree"), at("moved"));
        symlinkSync(at("outside"), at("tree"));
      }
      contents.add(await contentOf(item));
    },
  });
  expect([...contents]).toEqual(["tree"]);
  expect(summary).toMatchObject({ stopped: { kind: "SourceFailed" } });
  expect(summary.failures).toBeLessThanOrEqual(3 * 256);
});

test("a root that is gone is missing, and a walk does not take the folders below it for empty ones", async () => {
  const source = fileTreeSource({ root: at("tree") });
  const [item] = await itemsOf(source);
  renameSync(at("tree"), at("moved"));
  await expect(itemsOf(source)).rejects.toMatchObject({ kind: "SourceMissing" });
  await expect(item!.open()).rejects.toMatchObject({ code: "ENOENT" });
  await item!.checkPath();
  const byPath = new TreeFolders(new TreeRoot(inTree(world.root, "outside")), { hasDescriptors: false });
  await byPath.use(NONE, async () => rmSync(at("outside/z")));
  renameSync(at("outside"), at("moved/outside"));
  await expect(byPath.use(Buffer.from("a/"), async () => "used")).rejects.toMatchObject({ name: "RootLost" });

  renameSync(at("moved"), at("tree"));
  for (const [code, kind] of [
    ["ENOENT", "SourceMissing"],
    ["ENOTDIR", "SourceUnreadable"],
  ] as const) {
    const lost = new FileTreeSource({
      ...readOptions({ root: at("tree") }),
      list: async (request) => {
        const { entries, hasMore } = await listDirectory(request);
        if (entries.length === 1) throw new RootLost(code);
        return { entries, hasMore };
      },
    });
    await expect(itemsOf(lost)).rejects.toMatchObject({ name: "SourceReadFailed", kind });
  }
});

test("a root may be a link at the start, and one that leads elsewhere later matters to paths only", async () => {
  symlinkSync("tree", at("link"));
  const source = fileTreeSource({ root: at("link") });
  unlinkSync(at("link"));
  symlinkSync("outside", at("link"));
  const items = await itemsOf(source);
  expect(pathsOf(items)).toEqual(["a/both", "z"]);
  expect(items[1]!.path).toBe(at("link/z"));
  expect(await Promise.all(items.map(contentOf))).toEqual(["tree", "tree"]);
  await expect(items[1]!.checkPath()).rejects.toMatchObject({ name: "RootLost", code: "ENOTDIR" });
});

test("a root that is not there at the start is the one that is found first", async () => {
  const source = fileTreeSource({ root: at("later") });
  await expect(itemsOf(source)).rejects.toMatchObject({ kind: "SourceMissing" });
  renameSync(at("tree"), at("later"));
  expect(pathsOf(await itemsOf(source))).toEqual(["a/both", "z"]);
  renameSync(at("later"), at("tree"));
  mkdirSync(at("later"));
  await expect(itemsOf(source)).rejects.toMatchObject({ kind: "SourceUnreadable" });
  rmdirSync(at("later"));
  await expect(itemsOf(source)).rejects.toMatchObject({ kind: "SourceMissing" });
});
