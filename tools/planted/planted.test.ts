// A proof that would also succeed on a broken protocol proves nothing. So the protocol is broken, in many ways, one at a time,
// and each time a detector must notice. What could go wrong here is that a bug is no longer planted because the text
// that it replaces has changed: then the list is out of date, and that too must be noticed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";
import { expectation } from "./expectation.ts";
import { judgeBugs, problemsOf } from "./judge.ts";
import { PLANTED_BUGS, type PlantedBug } from "./planted-bugs.ts";
import { replaceOnce } from "./replace-once.ts";

describe("planted bugs", () => {
  // By one detector each, in turn: `main.ts` asks every detector that must catch it.
  test("each is caught, and a clean copy is not", { timeout: 600_000 }, async () => {
    const judgments = await judgeBugs(PLANTED_BUGS, { looks: "one" });

    expect(judgments.flatMap(problemsOf)).toEqual([]);
    expect(judgments).toHaveLength(PLANTED_BUGS.length + 1);
  });

  test("are at least ten, each different and with a detector to catch it", () => {
    expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(10);
    expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length);
    expect(PLANTED_BUGS.every(({ caughtBy, find, replace }) => caughtBy.length > 0 && find !== replace)).toBe(true);
  });

  test.each(PLANTED_BUGS)("there is a place for: $name", (bug) => {
    const text = readFileSync(join(ROOT, "packages/coordination/src", bug.file), "utf8");

    expect(replaceOnce(text, bug.find, bug.replace)).not.toBe(text);
  });
});

describe("problemsOf", () => {
  const bug: PlantedBug = { name: "b", file: "f.ts", find: "x", replace: "y", caughtBy: ["conformance", "simulator"] };

  test("a bug that one of those missed who must not", () => {
    const findings = new Map([["conformance", "a case"] as const, ["simulator", undefined] as const]);

    expect(problemsOf({ bug, findings })).toEqual(['"b" survives the simulator']);
  });

  test("a bug that no detector looked for", () => {
    expect(problemsOf({ bug, findings: new Map() })).toEqual(['no detector looked for "b"']);
  });

  test("a clean copy that is not clean", () => {
    const findings = new Map([["conformance", "a case"] as const, ["explorer", undefined] as const]);

    expect(problemsOf({ bug: undefined, findings })).toEqual(["the clean copy fails the conformance: a case"]);
  });
});

describe("expectation", () => {
  test.each([
    ["toBe", 1n, 1n, true],
    ["toBe", {}, {}, false],
    ["toEqual", { a: [1, { b: Uint8Array.of(1) }], c: undefined }, { a: [1, { b: Uint8Array.of(1) }] }, true],
    ["toEqual", { a: 1, b: 2 }, { a: 1 }, false],
    ["toEqual", [1, 2], [1], false],
    ["toEqual", Uint8Array.of(1), Uint8Array.of(2), false],
    ["toEqual", [], {}, false],
    ["toEqual", new Set([1]), new Set([1]), true],
    ["toEqual", new Set([1]), new Set([2]), false],
    ["toMatchObject", { a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } }, true],
    ["toMatchObject", { a: 1, b: { c: 2 } }, { b: { c: 3 } }, false],
    ["toMatchObject", { a: [1, 2] }, { a: [1] }, false],
    ["toMatchObject", undefined, { a: 1 }, false],
  ] as const)("%s of %o and %o: %s", (name, actual, expected, isMet) => {
    const check = (): void => expectation(actual)[name](expected as object);

    if (isMet) expect(check).not.toThrow();
    else expect(check).toThrow("expected");
  });
});
