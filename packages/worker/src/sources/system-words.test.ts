// Node has no name for some system errors: their code is "Unknown system error -116" on Linux and "-70" on macOS. Code that
// compares names never meets ESTALE, which is what a network file system returns, and gives up instead of trying again.

import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import { expect, test } from "vitest";
import { nodeError } from "./node-error.fixture.ts";
import { codeOf, systemWords } from "./system-words.ts";

test("an error of the system has its name, also if Node does not know it", () => {
  const named = new Set([...getSystemErrorMap().values()].map(([name]) => name));
  const unnamed = Object.keys(constants.errno).filter((name) => !named.has(name));
  expect(unnamed).toEqual(expect.arrayContaining(["ESTALE", "EDQUOT"]));
  // Two names may have one number.
  const { errno } = constants as { readonly errno: Readonly<Record<string, number>> };
  for (const name of unnamed) expect(errno[codeOf(nodeError(name))!]).toBe(errno[name]);
  for (const name of named) expect(codeOf(nodeError(name))).toBe(name);
});

test("an error of anything else keeps its code", () => {
  expect(codeOf(Object.assign(new Error("no"), { code: "57P01", errno: 116 }))).toBe("57P01");
  expect(codeOf(Object.assign(new Error("no"), { code: "ESTALE" }))).toBe("ESTALE");
  for (const thrown of [undefined, null, "ESTALE", new Error("no"), { code: 5, errno: -5 }])
    expect(codeOf(thrown)).toBe(undefined);
});

test("users see the name", () => {
  expect(systemWords(nodeError("ESTALE"))).toBe("ESTALE");
  expect(systemWords(nodeError("EACCES"))).toBe("permission denied (EACCES)");
});
