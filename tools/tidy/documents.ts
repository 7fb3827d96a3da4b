// What every package and every decision must say about itself.
import type { Finding } from "./finding.ts";
import type { SourceText } from "./tree.ts";

export interface PackageDocuments {
  /** From the root. */
  readonly folder: string;
  readonly version: string;
  readonly readme: string | undefined;
  readonly changelog: string | undefined;
}

/** A title, then one install command. tools/readme checks what it installs. */
const STARTS_WITH_INSTALL = /^# [^\n]+\n\n```sh\nnpm install [^\n]+\n```\n/;

export function packageDocumentFindings({ folder, version, readme, changelog }: PackageDocuments): Finding[] {
  const found: Finding[] = [];
  if (readme === undefined) found.push({ file: `${folder}/README.md`, line: 0, what: "is missing" });
  else if (!headings(readme).includes("What it does not do"))
    found.push({ file: `${folder}/README.md`, line: 0, what: 'has no section "What it does not do"' });
  if (readme !== undefined && !STARTS_WITH_INSTALL.test(readme))
    found.push({ file: `${folder}/README.md`, line: 3, what: "does not start with its install command" });
  if (changelog === undefined) found.push({ file: `${folder}/CHANGELOG.md`, line: 0, what: "is missing" });
  else if (!headings(changelog).includes(version))
    found.push({
      file: `${folder}/CHANGELOG.md`,
      line: 0,
      what: `has no entry for ${version}, the version in the manifest`,
    });
  return found;
}

export function decisionFindings({ file, text }: SourceText): Finding[] {
  return /^Status: \S/m.test(withoutCode(text)) ? [] : [{ file, line: 0, what: 'has no line "Status: …"' }];
}

/** Paths of TypeScript files that a page names in backquotes: from the root, or below the source of a package. */
export function missingFiles({ file, text }: SourceText, exists: (path: string) => boolean): Finding[] {
  return text.split("\n").flatMap((content, index) =>
    [...content.matchAll(/`([\w-]+\/[\w./-]+\.ts)`/g)]
      .map((match) => match[1]!)
      .filter((path) => !exists(path) && !exists(`packages/coordination/src/${path}`))
      .map((path) => ({ file, line: index + 1, what: `names a file that does not exist: ${path}` })),
  );
}

function headings(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} +(.+?) *$/gm)].map((match) => match[1]!);
}

function withoutCode(text: string): string {
  return text.replaceAll(/^(`{3,})[^\n]*\n[^]*?^\1`*$/gm, "");
}
