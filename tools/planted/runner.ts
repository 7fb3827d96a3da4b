// Judges copies, one after the other, in a process that loads TypeScript as it stands. Started by `judge.ts`: reads
// a list of tasks from the first argument and prints one line of JSON for each verdict.
import { DETECT } from "./detect.ts";
import type { CopyTask, CopyVerdict } from "./judge.ts";

const tasks = JSON.parse(process.argv[2]!) as readonly CopyTask[];
for (const [index, { sources, detectors, effort }] of tasks.entries()) {
  for (const detector of detectors) {
    const verdict: CopyVerdict = { index, detector, ...(await judge(() => DETECT[detector](sources, effort))) };
    console.log(JSON.stringify(verdict));
  }
}

async function judge(detect: () => Promise<string | undefined>): Promise<Pick<CopyVerdict, "finding">> {
  try {
    const finding = await detect();
    return finding === undefined ? {} : { finding };
  } catch (thrown) {
    // A copy that cannot even be set up is broken in an obvious way.
    return { finding: `it throws: ${String(thrown).slice(0, 200)}` };
  }
}
