// `pnpm boundaries`: fails where a package reaches above or beside its layer.
import { ROOT } from "../layers/layers.ts";
import { checkBoundaries } from "./check.ts";
import { formatProblem } from "./problem.ts";

const { cruised, problems } = checkBoundaries(ROOT);
for (const problem of problems) console.error(formatProblem(problem));
console.log(`${cruised.modules.length} modules, ${cruised.importCount} imports, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
