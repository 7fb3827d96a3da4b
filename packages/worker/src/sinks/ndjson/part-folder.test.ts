// A quota that is used up is a full disk: the work waits for room. Taken for anything else, it ends the run.

import { expect, test } from "vitest";
import { nodeError } from "../../sources/node-error.fixture.ts";
import { writeFailure } from "./part-folder.ts";

test.each(["ENOSPC", "EDQUOT"])("a write that fails with %s has met a full disk", (name) => {
  expect(writeFailure(nodeError(name), "the results")).toMatchObject({
    kind: "DiskFull",
    message: `the results cannot be written: no space left (${name})`,
  });
});

test("a write that fails with anything else has not", () => {
  expect(writeFailure(nodeError("EIO"), "the results")).toMatchObject({ kind: "Unwritable" });
});
