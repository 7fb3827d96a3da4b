import { effort, isExploring } from "@gossip/tools/effort";

/** How many files and kills: a few in `npm test`, all that the proof asks for in `npm run explore`. */
export const KILL_SIZE = effort({
  usual: { fileCount: 1000, killCount: 4 },
  exploring: { fileCount: 50_000, killCount: 40 },
});

/** Prints the report of a long run, so that its minutes show more than a passed test. */
export function tellReport(store: string, report: object): void {
  if (isExploring) process.stdout.write(`${store}: ${JSON.stringify(report)}\n`);
}
