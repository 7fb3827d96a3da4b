// A glob that matches too much deletes the wrong files; one that matches too little leaves work undone.
import { describe, expect, test } from "vitest";
import { excludeByGlobs } from "./path-globs.ts";

function kept(globs: { include?: string[]; exclude?: string[] }, paths: readonly string[]): string[] {
  const exclude = excludeByGlobs(globs)!;
  return paths.filter((path) => {
    const isFolder = path.endsWith("/");
    const name = isFolder ? path.slice(0, -1) : path;
    return !exclude({ path: name, pathBytes: Buffer.from(name), isFolder });
  });
}

const TREE = ["a.c", "b.h", "src/", "src/a.c", "src/deep/x.c", ".hidden/", ".hidden/a.c", "build/", "build", "!x.c"];

describe("globs", () => {
  test.each([
    [{ include: ["*.c"] }, ["a.c", "src/", "src/a.c", "src/deep/x.c", ".hidden/", ".hidden/a.c", "build/", "!x.c"]],
    [{ include: ["src/*.c"] }, ["src/", "src/a.c", ".hidden/", "build/"]],
    [{ include: ["src/**"] }, ["src/", "src/a.c", "src/deep/x.c", ".hidden/", "build/"]],
    [{ include: ["/a.c"] }, ["a.c", "src/", ".hidden/", "build/"]],
    [
      { include: ["**/*.{c,h}"], exclude: ["src"] },
      ["a.c", "b.h", "src/deep/x.c", ".hidden/", ".hidden/a.c", "build/", "!x.c"]
        .filter((path) => path !== "src/deep/x.c")
        .concat("src/a.c", "src/deep/x.c"),
    ],
    [{ exclude: ["build/"] }, TREE.filter((path) => path !== "build/")],
    [{ exclude: ["!x.c"] }, TREE.filter((path) => path !== "!x.c")],
    [{ exclude: [".*"] }, TREE.filter((path) => path !== ".hidden/")],
  ])("%j", (globs, left) => {
    expect(kept(globs, TREE).toSorted()).toEqual(left.toSorted());
  });

  test("without any there is nothing to test", () => {
    expect(excludeByGlobs({})).toBeUndefined();
  });

  test("a name that is not UTF-8 matches a star", () => {
    const pathBytes = Buffer.from([0xff, 0x2e, 0x63]);
    expect(excludeByGlobs({ include: ["*.c"] })!({ path: undefined, pathBytes, isFolder: false })).toBe(false);
    expect(excludeByGlobs({ include: ["*.h"] })!({ path: undefined, pathBytes, isFolder: false })).toBe(true);
  });
});
