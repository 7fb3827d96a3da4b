// A vitest reporter that leaves the counts, and the reason of every skip, where the summary finds them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { ROOT } from "../layers/layers.ts";

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** `why` is the note given to `context.skip`. */
  readonly skipped: readonly { readonly test: string; readonly why: string }[];
}

export const COUNTS_FILE: string = join(ROOT, ".cache/check/tests.json");

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    const skipped: { test: string; why: string }[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") passed += 1;
        else if (result.state === "failed") failed += 1;
        else skipped.push({ test: test.fullName, why: (result.state === "skipped" ? result.note : undefined) ?? "no reason given" });
      }
    }
    mkdirSync(dirname(COUNTS_FILE), { recursive: true });
    writeFileSync(COUNTS_FILE, JSON.stringify({ passed, failed, skipped } satisfies TestCounts));
  }
}
