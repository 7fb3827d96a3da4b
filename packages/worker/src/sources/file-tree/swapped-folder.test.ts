// Someone who can write to a tree can replace one of its folders by a link while it is walked. If the walk followed it, files
// outside of the tree would be processed with the rights of the user who runs it.

import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileTreeSource } from "./file-tree-source.ts";
import { listDirectory } from "./list-directory.ts";
import { startAttacker, type Attacker } from "./swapping-attacker.fixture.ts";
import { inTree, makeTree, type TemporaryTree } from "./temporary-tree.fixture.ts";
import { TreeFolders } from "./tree-folders.ts";
import { TreeRoot } from "./tree-root.ts";

const NONE = new Uint8Array(0);
const WALKS = 400;

let world: TemporaryTree;
let attacker: Attacker | undefined;

beforeEach(() => {
  world = makeTree(["tree/a/b/inside", "tree/z", "outside/b/secret", "outside/inside"]);
});

afterEach(async () => {
  await attacker?.stop();
  attacker = undefined;
  world.dispose();
});

async function attack(folder: string): Promise<void> {
  const at = (path: string): string => join(world.root, path);
  symlinkSync(at("outside"), at("link"));
  attacker = await startAttacker({ folder: at(folder), link: at("link"), spare: at("spare") });
}

async function walk(): Promise<string[]> {
  const source = fileTreeSource({ root: join(world.root, "tree") });
  const paths: string[] = [];
  const { signal } = new AbortController();
  for await (const { items } of source.read({ range: { start: NONE, end: NONE }, signal }))
    for (const { relativePath } of items) paths.push(relativePath!);
  return paths;
}

describe("a folder that is swapped with a link all the time", () => {
  test.each(["tree/a", "tree/a/b"])("never leads out of the tree: %s", async (folder) => {
    await attack(folder);
    const seen = new Set<string>();
    // Both states are met by construction: the walk goes on until it has seen the folder present and absent.
    for (let walks = 0; walks < WALKS || !seen.has("a/b/inside"); walks++)
      for (const path of await walk()) seen.add(path);
    expect([...seen].sort()).toEqual(["a/b/inside", "z"]);
  });

  test("gives a file's handle for a file of the tree only", async () => {
    const source = fileTreeSource({ root: join(world.root, "tree") });
    const items = [];
    for await (const batch of source.read({ range: { start: NONE, end: NONE }, signal: new AbortController().signal }))
      items.push(...batch.items);
    writeFileSync(join(world.root, "tree/a/b/inside"), "inside");
    mkdirSync(join(world.root, "outside/a"));
    writeFileSync(join(world.root, "outside/inside"), "outside");
    const [inside] = items;
    const read = async (): Promise<string> => {
      await using handle = await inside!.open();
      return handle.readFile("utf8");
    };
    expect(await read()).toBe("inside");
    await inside!.checkPath();
    // A link in place of the folder, and then in place of the file.
    renameSync(join(world.root, "tree/a/b"), join(world.root, "moved"));
    symlinkSync(join(world.root, "outside"), join(world.root, "tree/a/b"));
    await expect(inside!.open()).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(inside!.checkPath()).rejects.toMatchObject({ code: "ENOTDIR" });
    unlinkSync(join(world.root, "tree/a/b"));
    mkdirSync(join(world.root, "tree/a/b"));
    symlinkSync(join(world.root, "outside/inside"), join(world.root, "tree/a/b/inside"));
    await expect(inside!.open()).rejects.toMatchObject({ code: "ELOOP" });
    await expect(inside!.checkPath()).rejects.toMatchObject({ code: "ENOTDIR" });
    unlinkSync(join(world.root, "tree/a/b/inside"));
    mkdirSync(join(world.root, "tree/a/b/inside"));
    await expect(inside!.open()).rejects.toMatchObject({ code: "EINVAL" });
  });
});

describe.each([true, false])("folders of a tree, by descriptor: %s", (hasDescriptors) => {
  const names = async (folders: TreeFolders, prefix: string): Promise<string[]> => {
    const { entries } = await folders.use(Buffer.from(prefix), (folder) =>
      listDirectory({ folder, from: NONE, end: NONE, limit: 100 }),
    );
    return entries.map(({ name }) => Buffer.from(name).toString());
  };

  test("are opened in any order, and not through links", async () => {
    const folders = new TreeFolders(new TreeRoot(inTree(world.root, "tree")), { hasDescriptors });
    expect(await names(folders, "a/b/")).toEqual(["inside"]);
    expect(await names(folders, "")).toEqual(["a/", "z"]);
    expect(await names(folders, "a/")).toEqual(["b/"]);
    renameSync(join(world.root, "tree/a"), join(world.root, "spare"));
    symlinkSync(join(world.root, "outside"), join(world.root, "tree/a"));
    const others = new TreeFolders(new TreeRoot(inTree(world.root, "tree")), { hasDescriptors });
    for (const prefix of ["a/", "a/b/"]) await expect(names(others, prefix)).rejects.toMatchObject({ code: "ENOTDIR" });
    folders.close();
    others.close();
    expect(world.openHandleCount()).toBe(0);
  });

  test("are opened however deep they are", async () => {
    const deep = Array.from({ length: 100 }, () => "d").join("/");
    world.write(`tree/${deep}/file`);
    const folders = new TreeFolders(new TreeRoot(inTree(world.root, "tree")), { hasDescriptors });
    expect(await names(folders, `${deep}/`)).toEqual(["file"]);
    expect(await names(folders, "d/d/")).toEqual(["d/"]);
    expect(await names(folders, `${deep}/`)).toEqual(["file"]);
    folders.close();
    expect(world.openHandleCount()).toBe(0);
  });
});

test("a folder that is replaced while it is read by path is noticed", async () => {
  const folders = new TreeFolders(new TreeRoot(inTree(world.root, "tree")), { hasDescriptors: false });
  const used = folders.use(Buffer.from("a/b/"), async () => {
    renameSync(join(world.root, "tree/a"), join(world.root, "spare"));
    mkdirSync(join(world.root, "tree/a/b"), { recursive: true });
  });
  await expect(used).rejects.toMatchObject({ code: "ENOTDIR" });
});
