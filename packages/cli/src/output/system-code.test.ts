// Node has no name for the error of a quota that is used up, so a comparison of names never meets it, and users would read
// "Unknown system error -122" where they should read that the disk is full.

import { constants } from "node:os";
import { getSystemErrorName } from "node:util";
import { expect, test } from "vitest";
import { systemCode } from "./system-code.ts";

test.each(["ENOENT", "EDQUOT", "ESTALE"] as const)("an error has its name: %s", (name) => {
  const errno = -constants.errno[name];
  expect(systemCode(Object.assign(new Error("no"), { code: getSystemErrorName(errno), errno }))).toBe(name);
});

test("an error that is not the system's has its code, if any", () => {
  expect(systemCode(Object.assign(new Error("no"), { code: "ERR_INVALID_ARG_TYPE" }))).toBe("ERR_INVALID_ARG_TYPE");
  expect(systemCode(new Error("no"))).toBe(undefined);
});
