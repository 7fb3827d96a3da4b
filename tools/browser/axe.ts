// What axe-core, the accessibility checker, finds on a page.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
  readonly passes: readonly unknown[];
}

let source: string | undefined;

/** One line per violation of `rules`, or of all of them. Throws if axe checked nothing. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  source ??= readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  // Evaluated by the debugger, which the content security policy of the page does not bind.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(source);
  const options = {
    resultTypes: ["violations"],
    ...(rules === undefined ? {} : { runOnly: { type: "rule", values: rules } }),
  };
  const { violations, passes } = await page.evaluate<AxeResult>(`axe.run(document, ${JSON.stringify(options)})`);
  if (passes.length === 0) throw new Error("axe-core checked nothing");
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} (${failureSummary?.slice(0, 300)})`),
  );
}
