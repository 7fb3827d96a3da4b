// `node --import ./tools/ts/register.mjs tools/mutate/main.ts [TARGET]`: makes the sources of a package wrong in many small ways, one at a
// time and in copies, and fails unless the tests notice every one.
import { checkMutants, formatJudged } from "./check.ts";
import { FRONTIER_TARGETS } from "./frontier-targets.ts";
import { mutantsOf } from "./mutant.ts";

const wanted = process.argv[2];
const targets = FRONTIER_TARGETS.filter((target) => wanted === undefined || target.name === wanted);
if (targets.length === 0) {
  console.error(
    `No target is called ${wanted}. They are: ${FRONTIER_TARGETS.map((target) => target.name).join(", ")}.`,
  );
  process.exit(2);
}

const judged = checkMutants("frontier", mutantsOf(targets));
const killed = judged.filter(({ verdict }) => verdict === "killed").length;
console.log(formatJudged(judged));
console.log(`${killed} of ${judged.length} edits noticed`);
process.exit(killed === judged.length ? 0 : 1);
