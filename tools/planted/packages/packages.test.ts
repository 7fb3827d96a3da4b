// The tests of a store prove little if they also pass on a broken one. So stores and the worker runtime are broken, one bug at a
// time, and a test of the package must fail. `npm test` plants one or two bugs of each area; `npm run explore` plants all.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { etcdSkipped } from "../../engines/index.ts";
import { ROOT } from "../../layers/layers.ts";
import { replaceOnce } from "../replace-once.ts";
import { judgePackageBugs, PACKAGE_BUGS } from "./judge.ts";
import { AREAS, type PackageBug } from "./package-bug.ts";

describe("bugs in stores and in the worker runtime", () => {
  test("each is caught, and clean copies pass", () => {
    const isMissing = etcdSkipped() !== undefined;
    const bugs = PACKAGE_BUGS.filter(
      (bug) => bug.isUsual === true && !(isMissing && bug.package === "coordination-etcd"),
    );

    expect(judgePackageBugs(bugs).flatMap(({ problem }) => problem ?? [])).toEqual([]);
  });

  test("are of every area and every store", () => {
    const usual = PACKAGE_BUGS.filter(({ isUsual }) => isUsual === true);
    expect([...new Set(usual.map(({ area }) => area))].toSorted()).toEqual([...AREAS].toSorted());
    expect([...new Set(usual.map((bug) => bug.package))].toSorted()).toEqual([
      "coordination-etcd",
      "coordination-lmdb",
      "coordination-postgres",
      "worker",
    ]);
    expect(new Set(PACKAGE_BUGS.map((bug) => `${bug.package} ${bug.name}`)).size).toBe(PACKAGE_BUGS.length);
  });

  test.each(PACKAGE_BUGS.map((bug) => ({ ...bug, of: bug.package })))("there is a place for: $of, $name", (bug) => {
    const text = readFileSync(join(ROOT, "packages", bug.package, "src", bug.file), "utf8");

    expect(replaceOnce(text, bug.find, bug.replace)).not.toBe(text);
  });
});

describe("judgePackageBugs", () => {
  const harmless: PackageBug = {
    name: "nothing is broken",
    area: "keeper",
    package: "worker",
    file: "keeper/renewer.ts",
    find: "const PATIENCE = 0.5;",
    replace: "const PATIENCE = 1 / 2;",
    test: "keeper/renewer.test.ts",
  };

  test("finds a bug that survives, one that does not load, and one that no test looks for", () => {
    const broken = { ...harmless, name: "broken", replace: "const PATIENCE = ;" };
    const unseen = { ...harmless, name: "unseen", testName: "no such test" };

    expect(judgePackageBugs([harmless, broken, unseen]).map(({ problem }) => problem)).toEqual([
      '"nothing is broken" survives worker/keeper/renewer.test.ts',
      '"broken" does not load, or its test never ended',
      'no test of keeper/renewer.test.ts looked for "unseen"',
    ]);
  });
});
