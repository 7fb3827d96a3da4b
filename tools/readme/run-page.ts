// Runs the blocks of a guide page in order, in one folder and one shell.
//
//   sh                a step that the reader types; it has to succeed
//   text output       what the step before it prints (expected-output.ts)
//   js to job.mjs     a file that the reader creates
//   ts                a program of its own, in the folder of the page
//   sql               statements on the tables of the PostgreSQL store and of the examples
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Block } from "./blocks.ts";
import type { Engines } from "./engines.ts";
import { isPrinted } from "./expected-output.ts";
import type { Failure } from "./failure.ts";
import { treatmentOf } from "./languages.ts";
import { notRunReason } from "./not-run.ts";
import { PageShell } from "./page-shell.ts";
import { resolveFromRoot } from "./pages.ts";
import { makePrograms } from "./programs.ts";
import { runSql } from "./run-sql.ts";
import { runTypeScript } from "./run-typescript.ts";
import { standIns, type StandIns } from "./stand-ins.ts";

const TIME_LIMIT_MS = 120_000;

/** Run the blocks of one page. Stops at the first failure, because later blocks build on earlier ones. */
export async function runPage(
  blocks: readonly Block[],
  engines: Engines,
  timeLimitMs: number = TIME_LIMIT_MS,
): Promise<Failure[]> {
  const scratch = mkdtempSync(join(tmpdir(), "gossip-guide-"));
  const folder = join(scratch, "home");
  mkdirSync(folder);
  const real = await standIns(blocks.map(({ code }) => code).join("\n"), { folder, engines });
  const shell = new PageShell({ folder, scratch, env: environment(await makePrograms(scratch)) });
  try {
    const page = new Page({ folder, shell, real, engines, timeLimitMs });
    for (const block of blocks) {
      const failures = await page.step(block);
      if (failures.length > 0) return failures;
    }
    return [];
  } finally {
    shell.end();
    real.release();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10 });
  }
}

interface Surroundings {
  readonly folder: string;
  readonly shell: PageShell;
  readonly real: StandIns;
  readonly engines: Engines;
  readonly timeLimitMs: number;
}

class Page {
  readonly #at: Surroundings;
  /** What the last step printed; `undefined` if the last block was not a step. */
  #printed: string | undefined;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  async step(block: Block): Promise<Failure[]> {
    const before = this.#printed;
    this.#printed = undefined;
    if (notRunReason(block) !== undefined) return [];
    switch (treatmentOf(block)) {
      case "Shell":
        return this.#runShell(block);
      case "Output":
        return compare(block, before);
      case "File":
        return this.#writeFile(block);
      case "TypeScript":
        return runTypeScript(
          { ...block, code: this.#at.real.toReal(block.code) },
          { folder: this.#at.folder, resolve: resolveFromRoot },
        );
      case "Sql":
        return runSql(block, this.#at.engines);
      case "Json":
      case "Prose":
      case "Quote":
      case "Unknown":
        // The text alone shows what is wrong with them: languages.ts.
        return [];
    }
  }

  async #runShell(block: Block): Promise<Failure[]> {
    const { shell, real, timeLimitMs } = this.#at;
    const { exitCode, output } = await shell.run(real.toReal(block.code), timeLimitMs);
    this.#printed = real.toPage(output);
    if (exitCode === undefined)
      return [{ ...placeOf(block), what: `did not end within ${timeLimitMs} ms: ${this.#printed}` }];
    return exitCode === 0 ? [] : [{ ...placeOf(block), what: `ends with code ${exitCode}: ${this.#printed}` }];
  }

  #writeFile(block: Block): Failure[] {
    const path = join(this.#at.folder, block.writes!);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.#at.real.toReal(block.code));
    return [];
  }
}

function compare(block: Block, printed: string | undefined): Failure[] {
  if (printed === undefined)
    return [{ ...placeOf(block), what: "is the output of no shell block: put it right after one" }];
  return isPrinted(printed, block.code)
    ? []
    : [{ ...placeOf(block), what: `is not what the step prints:\n${printed}` }];
}

function placeOf({ file, line }: Block): Pick<Failure, "file" | "line"> {
  return { file, line };
}

function environment(bin: string): Record<string, string | undefined> {
  const { GOSSIP_STORE: _store, ...rest } = process.env;
  return { ...rest, PATH: `${bin}:${process.env["PATH"] ?? ""}`, NO_COLOR: "1", TZ: "UTC", LC_ALL: "C.UTF-8" };
}
