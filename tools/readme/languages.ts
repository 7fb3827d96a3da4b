// What the runner does with a block, by the language of its fence.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../layers/layers.ts";
import type { Block } from "./blocks.ts";
import type { Failure } from "./failure.ts";
import { isGuidePage } from "./guide-pages.ts";

export type Treatment = "TypeScript" | "Shell" | "Sql" | "Json" | "Prose" | "Quote" | "Output" | "File" | "Unknown";

const TREATMENTS: Readonly<Record<string, Treatment>> = {
  ts: "TypeScript",
  typescript: "TypeScript",
  sh: "Shell",
  sql: "Sql",
  json: "Json",
  text: "Prose",
  mermaid: "Prose",
  md: "Prose",
};

/** Languages of files that a page's reader makes. The steps after it use the file. */
const FILE_LANGUAGES: readonly string[] = ["js", "ts", "json", "sh", "yaml"];

/** A quote is not run: the file that it comes from is tested. It has to stand in that file as it stands on the page. */
export function treatmentOf({ language, quotes, writes, isOutput }: Block): Treatment {
  if (quotes !== undefined) return "Quote";
  if (writes !== undefined) return FILE_LANGUAGES.includes(language) ? "File" : "Unknown";
  if (isOutput === true) return "Output";
  return TREATMENTS[language] ?? "Unknown";
}

/** Line beginnings that only code has. A block of them under `text` is an example that nothing runs. */
const CODE_LINE =
  /^\s*(import .* from |import ["{*]|export (default|const|function|class)|(const|let|var) [\w{[]|await |SELECT |INSERT INTO |UPDATE \w+ SET|CREATE (TABLE|INDEX)|(gossip|gossip-tso|npx|npm|node|pnpm|curl|git) [\w-])/m;

/** Failures that the text of a block shows without running it. */
export function staticFailures(block: Block): Failure[] {
  const { file, line, code, language } = block;
  switch (treatmentOf(block)) {
    case "Json":
      return isJson(code) ? [] : [{ file, line, what: "is not JSON" }];
    case "Prose":
      return language === "text" && CODE_LINE.test(code)
        ? [{ file, line, what: "is code fenced as text: name its language, so that it runs" }]
        : [];
    case "File":
    case "Output":
      return isGuidePage(file) ? [] : [{ file, line, what: "is for pages of the guide, whose blocks run in order" }];
    case "Quote":
      return isQuoted(block) ? [] : [{ file, line, what: `is not part of ${block.quotes}: quote it again` }];
    case "Unknown":
      return [
        {
          file,
          line,
          what: `has the language "${language}": use one of ${Object.keys(TREATMENTS).join(", ")}, so that it is checked`,
        },
      ];
    case "TypeScript":
    case "Shell":
    case "Sql":
      return [];
  }
}

/** Whether the quoted file contains these lines, at any indentation. */
function isQuoted({ file, code, quotes }: Block): boolean {
  const source = readFileSync(join(ROOT, dirname(file), quotes!), "utf8").split("\n");
  const lines = code.trimEnd().split("\n");
  return source.some((start, at) => {
    const indent = /^ */.exec(start)![0];
    return lines.every((line, index) => source[at + index] === (line === "" ? "" : `${indent}${line}`));
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
