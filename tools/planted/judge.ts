// Starts the process that judges copies, and reads its output.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ROOT } from "../layers/layers.ts";
import { withCopies } from "./copies.ts";
import type { Effort } from "./detect.ts";
import { DETECTORS, type Detector, type PlantedBug } from "./planted-bugs.ts";

/** One copy, and who looks at it. */
export interface CopyTask {
  readonly sources: string;
  readonly detectors: readonly Detector[];
  readonly effort: Effort;
}

export interface CopyVerdict {
  readonly index: number;
  readonly detector: Detector;
  readonly finding?: string;
}

/** What became of a bug, or of the clean copy. */
export interface Judgment {
  readonly bug: PlantedBug | undefined;
  /** What each detector that looked found first. */
  readonly findings: ReadonlyMap<Detector, string | undefined>;
}

/**
 * Who looks at a bug.
 *
 * - `all`   — every detector.
 * - `named` — those that must catch it.
 * - `one`   — one of those, each in its turn.
 */
export type Looks = "all" | "named" | "one";

/** Plant each bug in a copy of its own and let detectors look. A clean copy goes first, and all of them look at that. */
export function judgeBugs(bugs: readonly PlantedBug[], { looks }: { readonly looks: Looks }): Promise<Judgment[]> {
  return withCopies(async (copier) => {
    const planted = [undefined, ...bugs];
    const tasks = await Promise.all(
      planted.map(async (bug, index) => ({
        sources: await copier.copy(bug),
        detectors: bug === undefined ? DETECTORS : detectorsFor(bug, looks, index),
        // That the package as it is passes in full is what its own tests show.
        effort: looks === "all" || bug !== undefined ? ("thorough" as const) : ("glance" as const),
      })),
    );
    const verdicts = await runTasks(tasks);
    return planted.map((bug, index) => ({
      bug,
      findings: new Map(
        verdicts.filter((verdict) => verdict.index === index).map(({ detector, finding }) => [detector, finding]),
      ),
    }));
  });
}

function detectorsFor({ caughtBy }: PlantedBug, looks: Looks, turn: number): readonly Detector[] {
  if (looks === "all") return DETECTORS;
  return looks === "named" ? caughtBy : [caughtBy[turn % caughtBy.length]!];
}

async function runTasks(tasks: readonly CopyTask[]): Promise<CopyVerdict[]> {
  const args = [
    "--import",
    "./tools/ts/register.mjs",
    "--conditions=@gossip/source",
    "tools/planted/runner.ts",
    JSON.stringify(tasks),
  ];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  const verdicts: CopyVerdict[] = [];
  for await (const line of createInterface({ input: child.stdout })) verdicts.push(JSON.parse(line) as CopyVerdict);
  const status = await exited;
  const expected = tasks.reduce((sum, { detectors }) => sum + detectors.length, 0);
  if (status !== 0 || verdicts.length !== expected)
    throw new Error(`judging stopped after ${verdicts.length} of ${expected} verdicts, with status ${status}`);
  return verdicts;
}

/** What is wrong with a judgment: a clean copy that was found broken, or a bug that a detector looked for, must find, and did not. */
export function problemsOf({ bug, findings }: Judgment): string[] {
  if (bug === undefined)
    return [...findings].flatMap(([detector, finding]) =>
      finding === undefined ? [] : [`the clean copy fails the ${detector}: ${finding}`],
    );
  const looked = bug.caughtBy.filter((detector) => findings.has(detector));
  if (looked.length === 0) return [`no detector looked for "${bug.name}"`];
  return looked.flatMap((detector) =>
    findings.get(detector) === undefined ? [`"${bug.name}" survives the ${detector}`] : [],
  );
}
