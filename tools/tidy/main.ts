// What the tidy test checks, by hand, with the sizes that are worth a look: `node --import ./tools/ts/register.mjs tools/tidy/main.ts`.
import { ROOT } from "../layers/layers.ts";
import { TIDY_RULES, readTree, sizeReports } from "./check.ts";
import { formatFinding } from "./finding.ts";

const tree = readTree(ROOT);
const findings = Object.values(TIDY_RULES).flatMap((find) => find(ROOT, tree));
for (const report of sizeReports(tree)) console.log(`look at ${formatFinding(report)}`);
for (const finding of findings) console.error(formatFinding(finding));
console.log(`${tree.all.length} files, ${findings.length} findings`);
process.exit(findings.length > 0 ? 1 : 0);
