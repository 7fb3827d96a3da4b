// A command gets a path and opens it itself. If a folder on that path was replaced by a link since it was listed, the command
// would change files outside of the tree, for every file that was read ahead.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeGossipScript } from "../processes/gossip-bundle.fixture.ts";
import { gossip } from "../processes/gossip-process.fixture.ts";
import { readResults } from "./results.fixture.ts";

const NAMES = ["1", "2", "3", "4", "5"];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-replaced-"));
  for (const tree of ["tree", "outside"]) {
    mkdirSync(join(folder, tree, "a"), { recursive: true });
    for (const name of NAMES) writeFileSync(join(folder, tree, "a", name), tree);
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(removeGossipScript);

/** The first item puts the link there. */
const swap = (place: string): string =>
  `[ -e moved ] || { mv ${place} moved; ln -s "$PWD/${place.replace("tree", "outside")}" ${place}; }`;
const PIPE = `
  const { execSync } = require("node:child_process");
  const { readFileSync } = require("node:fs");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, item } = JSON.parse(line);
    execSync(process.argv[1]);
    let result = "first";
    if (!item.path.endsWith("/1")) result = readFileSync(item.path, "utf8");
    console.log(JSON.stringify({ id, result }));
  });
`;

describe.each(["tree/a", "tree"])("what is below %s when it is replaced by a link", (place) => {
  test.each([
    ["a command", ["--exec", `${swap(place)}; [ $(basename {}) = 1 ] && echo first || cat {}`]],
    ["a process", ["--pipe", `node -e '${PIPE}' '${swap(place)}'`]],
  ])("does not reach %s, and is tried again when it is back", async (_what, work) => {
    const args = ["run", "mine", "--source", "fs:tree", ...work, "--out", "out.ndjson"];
    const settings = ["--retries", "0", "--workers", "1", "--shards", "1", "--patience", "0"];
    const ended = await gossip([...args, ...settings], { cwd: folder });
    const text = readFileSync(join(folder, "out.ndjson"), "utf8");
    expect([ended.code, text]).toEqual([3, expect.not.stringContaining("outside")]);
    const results = [...readResults(join(folder, "out.ndjson")).values()];
    expect(results.map(({ ok, error }) => [ok, error?.includes("replaced")])).toEqual([
      [true, undefined],
      ...NAMES.slice(1).map(() => [false, true]),
    ]);

    unlinkSync(join(folder, place));
    renameSync(join(folder, "moved"), join(folder, place));
    const command = ["--exec", "cat {}", "--workers", "1"];
    expect((await gossip(["retry", "mine", ...command], { cwd: folder })).code).toBe(0);
    const again = [...readResults(join(folder, "out.ndjson.retry-1")).values()];
    expect(again.map(({ stdout }) => stdout)).toEqual(NAMES.slice(1).map(() => "tree"));
  });
});
