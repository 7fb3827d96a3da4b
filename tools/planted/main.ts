// Plants every bug, one by one, and shows who caught it: `node --import ./tools/ts/register.mjs tools/planted/main.ts`.
// Fails where a bug survives, where there is no longer a place for one, or where the clean copy is not clean. With `--all`
// every detector looks at every bug, not only those that must catch it, which takes a few minutes.
import { judgeBugs, problemsOf } from "./judge.ts";
import { DETECTORS, PLANTED_BUGS } from "./planted-bugs.ts";

const startedMs = performance.now();
const looks = process.argv.includes("--all") ? "all" : "named";
const judgments = await judgeBugs(PLANTED_BUGS, { looks });
for (const { bug, findings } of judgments) {
  console.log(bug === undefined ? "nothing planted" : bug.name);
  for (const detector of DETECTORS) {
    if (findings.has(detector)) console.log(`  ${detector.padEnd(11)} ${findings.get(detector) ?? "-"}`);
  }
}
const problems = judgments.flatMap(problemsOf);
for (const problem of problems) console.error(problem);
const seconds = Math.round((performance.now() - startedMs) / 1000);
console.log(`${PLANTED_BUGS.length} bugs planted in ${seconds} s, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
