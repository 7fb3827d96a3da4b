// Results in a folder, or compressed, must be exactly those of a plain file, after a crash at any step.
import { gunzipSync } from "node:zlib";
import { unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assembleWith, verifyWith } from "./assemble-ndjson.ts";
import { CrashingFiles } from "./crashing-files.fixture.ts";
import type { PartFiles } from "./part-files.ts";
import { partPath, type ResultForm } from "./result-form.ts";
import { FolderWriter } from "./result-writer.ts";
import { GOOD_LIFE, RUN, ShardHistory } from "./shard-history.fixture.ts";

const FORMS = [
  { what: "a folder", path: "/data/out.ndjson/", isFolder: true, isCompressed: false },
  { what: "a compressed folder", path: "/data/out.ndjson.gz/", isFolder: true, isCompressed: true },
  { what: "a compressed file", path: "/data/out.ndjson.gz", isFolder: false, isCompressed: true },
];
const PART_SIZE = 40;
const ITEMS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const LINES = ITEMS.map((item) => `${JSON.stringify({ item })}\n`).join("");

const makeRandom = (seed: number) => {
  let state = seed;
  return (bound: number) => (state = (state * 48271 + 11) % 2147483647) % bound;
};

/** A run whose parts are where the sink of `path` writes them. */
async function finishedRun(path: string) {
  const files = new CrashingFiles();
  await files.makeFolder("/data");
  const shards = [new ShardHistory(1n, ITEMS.slice(0, 7), path), new ShardHistory(3n, ITEMS.slice(7), path)];
  for (const shard of shards) await shard.live(files, GOOD_LIFE, () => 0);
  const to = path.replace(/\/$/, "");
  const request = { path, run: RUN, tokens: shards.map(({ token }) => token), partSize: PART_SIZE };
  return { files, request, form: { path: to, isFolder: path.endsWith("/"), isCompressed: to.endsWith(".gz") } };
}

function contentOf(files: CrashingFiles, form: ResultForm): string[] {
  const names = form.isFolder ? files.list().filter((name) => name.startsWith(`${form.path}/`)) : [form.path];
  return names.map((name) => {
    const bytes = files.bytes(name)!;
    return (form.isCompressed ? gunzipSync(bytes) : bytes).toString();
  });
}

/** Results of an earlier run at the same path. */
async function putOlder(files: CrashingFiles, form: ResultForm): Promise<void> {
  if (form.isFolder) await files.makeFolder(form.path);
  const file = await files.create(form.isFolder ? partPath(form.path, 77, form) : form.path);
  await file.write(Buffer.from("old"), 0);
}

/** The same files for one of several processes: the steps of all of them happen in any order. */
function interleaved(files: CrashingFiles, scheduler: fc.Scheduler): PartFiles {
  return {
    makeFolder: scheduler.scheduleFunction((path) => files.makeFolder(path)),
    create: scheduler.scheduleFunction((path) => files.create(path)),
    syncFolder: (path) => files.syncFolder(path),
    open: scheduler.scheduleFunction((path) => files.open(path)),
    rename: scheduler.scheduleFunction((from, to) => files.rename(from, to)),
    removeFolder: scheduler.scheduleFunction((path) => files.removeFolder(path)),
    removeEmptyFolder: scheduler.scheduleFunction((path) => files.removeEmptyFolder(path)),
  };
}

describe.each(FORMS)("results in $what", ({ path, isFolder }) => {
  test("are those of a plain file, in parts that end with a line and are not too large", async () => {
    const { files, request, form } = await finishedRun(path);
    unwrap(await assembleWith(files, request));
    const parts = contentOf(files, form);
    expect(parts.join("")).toBe(LINES);
    if (isFolder) expect(parts.length).toBeGreaterThan(2);
    for (const part of isFolder ? parts : [])
      expect([part.endsWith("\n"), part.length <= PART_SIZE]).toEqual([true, true]);
    expect(files.list().filter((name) => !name.startsWith(form.path) || name.includes(".parts"))).toEqual([]);
    expect(unwrap(await verifyWith(files, request))).toEqual({ size: LINES.length });
  });

  test.each([false, true])(
    "are there once after a crash at any step of the assembly (power lost: %s)",
    async (losesPower) => {
      const { files: whole, request: all } = await finishedRun(path);
      const before = whole.steps;
      unwrap(await assembleWith(whole, all));
      const length = whole.steps - before;
      for (let crashAfter = 0; crashAfter <= length; crashAfter++) {
        const { files, request, form } = await finishedRun(path);
        files.crashAfter(crashAfter);
        void (await assembleWith(files, request).catch(() => undefined));
        files.recover(losesPower ? makeRandom(crashAfter + 1) : undefined);
        const again = await assembleWith(files, request);
        expect([crashAfter, again]).toEqual([crashAfter, { ok: true, value: { size: LINES.length } }]);
        expect(contentOf(files, form).join("")).toBe(LINES);
      }
    },
  );

  test("are there, whole, whatever the order of the steps of several processes that assemble at once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (scheduler, hasOlder) => {
        const { files, request, form } = await finishedRun(path);
        if (hasOlder) await putOlder(files, form);
        const assemblies = [1, 2, 3].map(() => assembleWith(interleaved(files, scheduler), request));
        const all = await scheduler.waitFor(Promise.all(assemblies));
        expect(contentOf(files, form).join("")).toBe(LINES);
        expect(all.map((each) => (each.ok ? "ok" : each.error.reason))).toEqual(["ok", "ok", "ok"]);
        expect(files.list().filter((name) => name.includes(".parts"))).toEqual([]);
      }),
      { numRuns: effort({ usual: 60, exploring: 3000 }) },
    );
  });

  test("replace older results, whole", async () => {
    const { files, request, form } = await finishedRun(path);
    await putOlder(files, form);
    unwrap(await assembleWith(files, request));
    expect(contentOf(files, form).join("")).toBe(LINES);
  });

  test("are found damaged if a byte is another, a part is missing, or there is more", async () => {
    const { files, request, form } = await finishedRun(path);
    unwrap(await assembleWith(files, request));
    const first = isFolder ? partPath(form.path, 1, form) : form.path;
    const bytes = files.bytes(first)!;
    bytes[20]! ^= 0x10;
    expect(await verifyWith(files, request)).toMatchObject({ ok: false, error: { kind: "ResultsDamaged" } });
    bytes[20]! ^= 0x10;
    expect((await verifyWith(files, request)).ok).toBe(true);
    if (isFolder) {
      await files.rename(partPath(form.path, 2, form), "/data/away");
      expect(await verifyWith(files, request)).toMatchObject({ ok: false, error: { kind: "ResultsDamaged" } });
    }
    await files.rename(first, "/data/gone");
    expect(await verifyWith(files, request)).toMatchObject({ ok: false, error: { kind: "ResultsMissing" } });
  });
});

describe.each(FORMS.filter(({ isFolder }) => isFolder))(
  "the message about damage in $what",
  ({ path, isCompressed }) => {
    async function assembled(partSize: number) {
      const run = await finishedRun(path);
      const request = { ...run.request, partSize };
      unwrap(await assembleWith(run.files, request));
      const parts = contentOf(run.files, run.form).map((_, index) => partPath(run.form.path, index + 1, run.form));
      const verify = async (): Promise<string> => {
        const verified = await verifyWith(run.files, request);
        return verified.ok ? "ok" : verified.error.reason;
      };
      return { ...run, parts, verify };
    }

    test("names the file, or the first and the last of those that its shard is in", async () => {
      // The seven lines of the first shard are 77 bytes.
      for (const partSize of [77, PART_SIZE]) {
        const { files, parts, verify } = await assembled(partSize);
        for (const [index, part] of parts.entries()) {
          const bytes = files.bytes(part)!;
          const place = bytes.length - 6;
          bytes[place]! ^= 0x10;
          const named = (await verify())
            .match(/part-\d+\.ndjson(\.gz)?/g)!
            .map((name) => parts.findIndex((each) => each.endsWith(name)));
          bytes[place]! ^= 0x10;
          const isOne = isCompressed || partSize === 77;
          const [first, last] = isOne ? [index, index] : index < 2 ? [0, 2] : [2, 3];
          expect([partSize, index, named[0], named.at(-1)]).toEqual([partSize, index, first, last]);
        }
        expect(await verify()).toBe("ok");
      }
    });

    test("names the file after which results are missing, and the file that is too many", async () => {
      const { files, form, parts, verify } = await assembled(PART_SIZE);
      const another = partPath(form.path, parts.length + 1, form);
      await (await files.create(another)).write(Buffer.from(files.bytes(parts[0]!)!), 0);
      expect(await verify()).toContain(`there are more than there were, in ${another.slice(form.path.length + 1)}`);
      await files.rename(another, "/data/away");
      await files.rename(parts[1]!, "/data/gone");
      expect(await verify()).toContain(`some are missing after ${parts[0]!.slice(form.path.length + 1)}`);
    });
  },
);

test("a run without results has one part without lines", async () => {
  const files = new CrashingFiles();
  await files.makeFolder("/data");
  unwrap(await assembleWith(files, { path: "/data/out/", run: RUN, tokens: [undefined] }));
  expect([files.list(), files.content("/data/out/part-00001.ndjson")]).toEqual([["/data/out/part-00001.ndjson"], ""]);
});

test("parts never cut a line, however the bytes arrive, and only a longer line makes a longer part", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(12), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 10 }),
      fc.integer({ min: 1, max: 20 }),
      async (lines, cuts, partSize) => {
        const bytes = Buffer.from(lines.map((length) => `${"x".repeat(length)}\n`).join(""));
        const files = new CrashingFiles();
        await files.makeFolder("/out");
        const form = { path: "/out", isFolder: true, isCompressed: false };
        const writer = new FolderWriter(files, "/out", form, partSize);
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          await writer.write(bytes.subarray(at, at + cut));
          at = Math.min(bytes.length, at + cut);
        }
        await writer.end();
        const parts = files.list().map((name) => files.content(name)!);
        expect(parts.join("")).toBe(bytes.toString());
        for (const part of parts) {
          expect(part === "" || part.endsWith("\n")).toBe(true);
          expect(part.length <= partSize || part.indexOf("\n") === part.length - 1).toBe(true);
        }
      },
    ),
  );
});
