// dependency-cruiser reads specifiers, so a computed one passes it by. Those that can load code must then be refused by
// the linter, or the boundary has an unwatched door.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";
import { copyTree } from "../packaging/copy-tree.ts";
import { UNSEEN } from "./plantings.fixture.ts";

const OXLINT = join(ROOT, "node_modules/oxlint/bin/oxlint");

let copy: string;
beforeAll(() => {
  copy = copyTree();
  for (const { file, text } of UNSEEN) writeFileSync(join(copy, file), text);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

test("the linter refuses every unseen form that loads code, and lets the harmless ones be", () => {
  const reported = lint(UNSEEN.map((planted) => planted.file));

  const found = UNSEEN.map(({ file, name }) => ({
    name,
    rules: reported.filter(({ filename }) => filename === file).map(({ code }) => code),
  }));
  for (const { name, lint: rule } of UNSEEN) {
    const { rules } = found.find((entry) => entry.name === name)!;
    if (rule === undefined) expect({ name, rules }).toEqual({ name, rules: [] });
    else expect(rules, name).toContainEqual(expect.stringContaining(rule));
  }
});

function lint(files: readonly string[]): { filename: string; code: string }[] {
  const run = spawnSync(process.execPath, [OXLINT, "--format=json", ...files], { cwd: copy, encoding: "utf8" });
  return (JSON.parse(run.stdout) as { diagnostics: { filename: string; code: string }[] }).diagnostics;
}
