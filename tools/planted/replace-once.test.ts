import { describe, expect, test } from "vitest";
import { replaceOnce } from "./replace-once.ts";

describe("replaceOnce", () => {
  test.each([
    { source: "if (a < b) x();", find: "a < b", replace: "a <= $& b", becomes: "if (a <= $& b) x();" },
    {
      source: "if (a)\n  return x(\n    one,\n    two,\n  );",
      find: "if (a) return x(one, two);",
      replace: "",
      becomes: "",
    },
    {
      source: "const a = b\n  .map(c)\n  .filter(d);",
      find: "b.map(c).filter(d)",
      replace: "b",
      becomes: "const a = b;",
    },
    { source: "a[0] += 1;\nb[0] += 1;", find: "b[0] += 1;", replace: "", becomes: "a[0] += 1;\n" },
  ])("replaces $find, however it is laid out", ({ source, find, replace, becomes }) => {
    expect(replaceOnce(source, find, replace)).toBe(becomes);
  });

  test.each([
    { source: "if (b > a) x();", count: 0 },
    { source: "a < b; a < b;", count: 2 },
    { source: "a<b", count: 0 },
  ])("throws where the text is there $count times in $source", ({ source, count }) => {
    expect(() => replaceOnce(source, "a < b", "")).toThrow(
      `an edit must fit in exactly one place, and this fits in ${count}: a < b`,
    );
  });
});
