// A path that matches another operation than the documented one changes a run in a way that the caller did not ask for.
import { expect, test } from "vitest";
import { matchPath, pathOf } from "./match-path.ts";
import { OPERATION_NAMES, OPERATIONS } from "./operations.ts";
import { roleIncludes } from "./role.ts";

test("the path and method of every operation lead to it", () => {
  for (const name of OPERATION_NAMES) {
    const params: Record<string, string> = {
      run: "r".repeat(16),
      shard: "s".repeat(16),
      worker: "w".repeat(16),
      name: "n",
    };
    const matched = matchPath(pathOf(name, params));
    expect(matched?.byMethod.get(OPERATIONS[name].method)).toBe(name);
    for (const [param, value] of Object.entries(matched?.params ?? {})) expect(params[param]).toBe(value);
  }
});

test.each(["/", "/v1", "/v2/claim", "/v1/claim/", "/v1/runs/a/b", "/v1/runs/a/shards/b/c", ""])(
  "%j leads nowhere",
  (path) => {
    expect(matchPath(path)).toBeUndefined();
  },
);

test("a role includes the ones before it", () => {
  expect(roleIncludes("admin", "read")).toBe(true);
  expect(roleIncludes("work", "work")).toBe(true);
  expect(roleIncludes("read", "work")).toBe(false);
});
