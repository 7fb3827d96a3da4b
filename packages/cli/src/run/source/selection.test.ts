// A selection that is read back differently makes the same command another run, which starts from the beginning.
import { describe, expect, test } from "vitest";
import { canonicalSelection, readNames, readSelection, selectionText } from "./selection.ts";

describe("readNames", () => {
  test.each([
    ["id", ["id"]],
    ["tenant, id", ["tenant", "id"]],
    ['"Order Id","a""b", c', ["Order Id", 'a"b', "c"]],
    ["", undefined],
    ["a,", undefined],
    [",a", undefined],
    ["a b", undefined],
    ['"a', undefined],
  ])("%j", (text, names) => {
    expect(readNames(text)).toEqual(names);
  });
});

test("a stored selection is read back, and is shown as it is typed", () => {
  const selection = { columns: ["a"], where: "x > 'y'", limit: 3, include: ["*.c", "b"], key: ["id"] };
  const stored = JSON.parse(JSON.stringify(canonicalSelection(selection))) as unknown;
  expect(canonicalSelection(readSelection(stored))).toEqual(selection);
  expect(selectionText(selection)).toBe(
    " --limit 3 --include '*.c' --include b --key id --where 'x > '\\''y'\\''' --columns a",
  );
  expect([readSelection(undefined), readSelection({ limit: "3", include: [1] })]).toEqual([{}, {}]);
});
