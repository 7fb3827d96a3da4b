// A mutation check that calls everything noticed is worse than none. So it is given an edit that changes nothing and must say that it
// got through, and one that does not even compile and must not count as noticed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";
import { checkMutants, formatJudged } from "./check.ts";
import { FRONTIER_TARGETS } from "./frontier-targets.ts";
import { mutantsOf, type Target } from "./mutant.ts";

const PREFIX_SUCCESSOR = FRONTIER_TARGETS.find((target) => target.name === "prefixSuccessor")!;

const SAMPLE: Target = {
  ...PREFIX_SUCCESSOR,
  edits: [
    ...PREFIX_SUCCESSOR.edits.slice(0, 2),
    // Not a change: a prefix has no negative length.
    { find: "while (size > 0 &&", replace: "while (size >= 1 &&" },
    { find: "function prefixSuccessorInto(", replace: "function prefixSuccessorInto((" },
  ],
};

describe("checkMutants", () => {
  test("tells what was noticed, what got through and what never ran", { timeout: 300_000 }, () => {
    const judged = checkMutants("frontier", mutantsOf([SAMPLE]));
    expect(judged.map(({ verdict }) => verdict)).toEqual(["killed", "killed", "survived", "broken"]);
    expect(judged[0]!.noticedBy).toContain("prefixSuccessor");
    expect(formatJudged(judged)).toContain("prefixSuccessor          2 of 4 noticed");
    expect(formatJudged(judged)).toContain("SURVIVED prefixSuccessor: while (size > 0 &&  ->  while (size >= 1 &&");
  });

  test("refuses to judge where an edit does not fit", () => {
    const stale: Target = { ...SAMPLE, edits: [{ find: "no such line", replace: "" }] };
    expect(() => checkMutants("frontier", mutantsOf([stale]))).toThrow(
      "an edit must fit in exactly one place, and this fits in 0: no such line",
    );
  });
});

describe("the list of edits", () => {
  test.each(FRONTIER_TARGETS)("has at least eight for $name, no two alike", ({ edits }) => {
    expect(edits.length).toBeGreaterThanOrEqual(8);
    expect(new Set(edits.map((edit) => JSON.stringify(edit))).size).toBe(edits.length);
    expect(edits.every((edit) => edit.find !== edit.replace)).toBe(true);
  });

  // The check of all of them takes minutes and is not part of `npm test`: it must not find then that the code has moved.
  test.each(FRONTIER_TARGETS)("fits the source of $name, each edit in exactly one place", ({ file, edits }) => {
    const source = readFileSync(join(ROOT, "packages/frontier/src", file), "utf8");
    expect(edits.filter(({ find }) => source.split(find).length !== 2)).toEqual([]);
  });
});
