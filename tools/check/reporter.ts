// A vitest reporter that writes the counts, every failure and the reason of every skip to a file for the summary.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { ROOT } from "../layers/layers.ts";

export interface TestCounts {
  readonly passed: number;
  /** What failed, and the head of what it said: the tail of a long log is often all that is kept of it. */
  readonly failed: readonly { readonly test: string; readonly file?: string; readonly said: string }[];
  /** `why` is the note given to `context.skip`. */
  readonly skipped: readonly { readonly test: string; readonly why: string }[];
}

/** Test runs that happen at the same time need a file each. */
export const COUNTS_FILE: string = process.env["GOSSIP_COUNTS_FILE"] ?? join(ROOT, ".cache/check/tests.json");

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly Said[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const counts: TestCounts = {
      passed: tests.filter((test) => test.result().state === "passed").length,
      failed: [
        ...unhandledErrors.map((error) => ({ test: "outside of any test", said: headOf([error]) })),
        ...modules
          .filter((module) => module.errors().length > 0)
          .map((module) => ({
            test: `${module.project.name} ${module.relativeModuleId}`,
            file: relative(ROOT, module.moduleId),
            said: headOf(module.errors()),
          })),
        ...tests
          .filter((test) => test.result().state === "failed")
          .map((test) => ({
            test: nameOf(test),
            file: relative(ROOT, test.module.moduleId),
            said: headOf(test.result().errors ?? []),
          })),
      ],
      skipped: tests.flatMap((test) => {
        const result = test.result();
        if (result.state === "passed" || result.state === "failed") return [];
        return [
          { test: test.fullName, why: (result.state === "skipped" ? result.note : undefined) ?? "no reason given" },
        ];
      }),
    };
    mkdirSync(dirname(COUNTS_FILE), { recursive: true });
    writeFileSync(COUNTS_FILE, JSON.stringify(counts));
  }
}

interface Said {
  readonly message?: unknown;
  readonly stacks?: readonly { readonly file: string; readonly line: number }[];
  readonly cause?: unknown;
}

/** Enough for a property's seed, path and counterexample. */
const HEAD_LINES = 12;
const HEAD_CHARS = 2000;

function headOf(errors: readonly Said[]): string {
  return errors.flatMap(linesOf).join("\n").slice(0, HEAD_CHARS);
}

function linesOf({ message, stacks, cause }: Said): readonly string[] {
  const ours = (stacks ?? [])
    .filter(({ file }) => !file.includes("node_modules"))
    .map(({ file, line }) => `at ${relative(ROOT, file)}:${line}`);
  return [
    ...String(message).split("\n").slice(0, HEAD_LINES),
    ...ours.slice(0, 2),
    ...(typeof cause === "object" && cause !== null ? linesOf(cause as Said) : []),
  ];
}

function nameOf(test: TestCase): string {
  return `${test.project.name} ${test.module.relativeModuleId} > ${test.fullName}`;
}
