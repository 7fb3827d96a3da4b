// Plants every bug in the stores and the worker runtime, one by one: `node --import ./tools/ts/register.mjs tools/planted/packages/main.ts [WORDS]`.
// Fails where one survives. With words, only the bugs whose names have them.
import { judgePackageBugs, PACKAGE_BUGS } from "./judge.ts";

const words = process.argv.slice(2).join(" ");
const verdicts = judgePackageBugs(
  PACKAGE_BUGS.filter(({ name, package: owner }) => `${owner}: ${name}`.includes(words)),
);
for (const { bug, caughtBy } of verdicts) console.log(`${bug.package}: ${bug.name}\n  ${caughtBy ?? "-"}`);
const problems = [...new Set(verdicts.flatMap(({ problem }) => problem ?? []))];
for (const problem of problems) console.error(problem);
console.log(`${verdicts.length} bugs planted, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
