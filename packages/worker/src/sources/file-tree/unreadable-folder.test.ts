// A folder that cannot be read must be reported exactly once, whatever key the reading stops at and continues from, or a run
// that was killed loses the report. One that fails for a moment must not be passed over at all.

import { readlinkSync } from "node:fs";
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { nodeError } from "../node-error.fixture.ts";
import type { ReadRequest } from "../source.ts";
import { describeSource } from "../../testing/index.ts";
import { FileTreeSource, readOptions, type FileTreeOptions } from "./file-tree-source.ts";
import { listDirectory } from "./list-directory.ts";
import { makeTree } from "./temporary-tree.fixture.ts";

const NONE = new Uint8Array(0);
const bytes = (path: string): Uint8Array => new Uint8Array(Buffer.from(path, "latin1"));
const text = (key: Uint8Array): string => Buffer.from(key).toString("latin1");

const PATHS = ["a/1", "b/1", "b/15", "b/2", "b/c/1", "b/c/d/1", "b/c/d/2", "b/c0", "b/z", "c/1", "d"];

const tree = makeTree(PATHS);
afterAll(() => tree.dispose());

/** A source of the tree whose file system refuses to list some folders. */
function troubledSource(
  refusal: (folder: string) => string | undefined,
  options: Partial<FileTreeOptions> = {},
): FileTreeSource {
  const { root = tree.root } = options;
  return new FileTreeSource({
    ...readOptions({ retry: { maxAttempts: 3, baseMs: 0, maxMs: 0 }, ...options, root }),
    list: async (request) => {
      const code = refusal(readlinkSync(request.folder).slice(root.length + 1));
      if (code !== undefined) throw nodeError(code);
      return listDirectory(request);
    },
  });
}

const refusing = (...folders: string[]) =>
  troubledSource((folder) => (folders.includes(folder) ? "EACCES" : undefined));

async function readAll(source: FileTreeSource, request: Partial<ReadRequest> = {}) {
  const found: { readonly key: Uint8Array; readonly reason: string | undefined }[] = [];
  const { signal } = new AbortController();
  for await (const { items, problems = [] } of source.read({ range: { start: NONE, end: NONE }, signal, ...request })) {
    for (const { key } of items) found.push({ key, reason: undefined });
    for (const { key, reason } of problems) found.push({ key, reason });
  }
  return found.sort((a, b) => compareBytes(a.key, b.key));
}

describeSource(
  "a file tree with folders that cannot be read",
  () => {
    const more = Array.from({ length: 16 }, (_, index) => `e/${index}`);
    const large = makeTree([...PATHS, ...more]);
    const paths = [...PATHS, ...more].filter((path) => !/^(b\/c|a)\//.test(path));
    return {
      source: troubledSource((folder) => (/^(b\/c|a)$/.test(folder) ? "EACCES" : undefined), { root: large.root }),
      keys: paths.map(bytes).sort(compareBytes),
      dispose: () => large.dispose(),
    };
  },
  { describe, expect, test },
);

describe("a folder that cannot be read", () => {
  test("is reported in its place and passed over", async () => {
    const found = await readAll(refusing("b"));
    expect(found.map(({ key }) => text(key))).toEqual(["a/1", "b/", "c/1", "d"]);
    expect(found[1]!.reason).toBe("a folder cannot be read: permission denied (EACCES)");
  });

  test("is reported once, however often the reading is broken off and continued", async () => {
    const folder = fc.constantFrom("a", "b", "b/c", "b/c/d", "c");
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(["a", "b", "b/c", "b/c/d", "c"]),
        folder,
        fc.array(fc.nat({ max: 3 }), { maxLength: 6 }),
        async (folders, late, stops) => {
          const source = refusing(...folders);
          const whole = await readAll(source);
          const parts: typeof whole = [];
          let after: Uint8Array | undefined;
          for (const stop of [...stops, Infinity]) {
            const part = (await readAll(source, { after })).slice(0, stop);
            parts.push(...part);
            after = part.at(-1)?.key ?? after;
          }
          expect(parts).toEqual(whole);

          // A folder that becomes unreadable half-way is reported once from there on, too.
          const broken = refusing(...folders, late);
          const rest = await readAll(broken, { after: bytes("b/15") });
          for (const [index, { key }] of rest.entries())
            expect(await readAll(broken, { after: key })).toEqual(rest.slice(index + 1));
        },
      ),
      { numRuns: 100 },
    );
  });

  test("is reported from where a part of it is wanted, inside that part", async () => {
    const found = await readAll(refusing("b"), { range: { start: bytes("b/15"), end: bytes("c") } });
    expect(found).toHaveLength(1);
    expect(text(found[0]!.key).startsWith("b/15\0")).toBe(true);
    expect(refusing("b").describeKey(found[0]!.key)).toBe("b/15");
    const narrow = { start: bytes("b/15"), end: bytes("b/15\0") };
    expect((await readAll(refusing("b"), { range: narrow })).map(({ key }) => text(key))).toEqual(["b/15"]);
  });

  test("stops the reading, if that is wanted", async () => {
    const source = troubledSource((folder) => (folder === "b" ? "EACCES" : undefined), { onUnreadable: "stop" });
    await expect(readAll(source)).rejects.toMatchObject({ name: "SourceReadFailed", kind: "SourceUnreadable" });
  });

  test.each(["EIO", "ESTALE", "EBUSY", "ETIMEDOUT", "EREMOTEIO"])("for a moment (%s) is listed again", async (code) => {
    let failures = 0;
    const source = troubledSource((folder) => (folder === "b" && failures++ < 2 ? code : undefined));
    const found = await readAll(source);
    expect(found.map(({ key }) => text(key))).toEqual([...PATHS].sort((a, b) => compareBytes(bytes(a), bytes(b))));
    expect(failures).toBe(3);
  });

  test("for longer is reported by the name of the error, also if Node has none for it", async () => {
    const source = troubledSource((folder) => (folder === "b" ? "ESTALE" : undefined));
    const reasons = (await readAll(source)).map(({ reason }) => reason).filter((reason) => reason !== undefined);
    expect(reasons).toEqual(["a folder cannot be read: ESTALE"]);
  });

  test("for longer is reported after the last attempt; a denial is not tried again", async () => {
    const attempts: string[] = [];
    const source = troubledSource((folder) => {
      attempts.push(folder);
      return folder === "b" ? "EIO" : folder === "c" ? "EACCES" : undefined;
    });
    expect((await readAll(source)).filter(({ reason }) => reason !== undefined).map(({ key }) => text(key))).toEqual([
      "b/",
      "c/",
    ]);
    expect(attempts.filter((folder) => folder === "b")).toHaveLength(3);
    expect(attempts.filter((folder) => folder === "c")).toHaveLength(1);
  });
});
