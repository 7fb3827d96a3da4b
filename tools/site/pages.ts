// The pages of the site, and the order in which its menu shows them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LAYERS, PACKAGES } from "../layers/layers.ts";
import { treeFiles } from "../tidy/tree.ts";

export interface SitePage {
  /** Where the text comes from, from the root: a Markdown file, or a name for a page that is made. */
  readonly source: string;
  /** Where the page is on the site. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

export interface MenuSection {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

const GUIDE = [
  "README",
  "ten-minutes",
  "concepts",
  "choose-a-source",
  "choose-a-store",
  "many-machines",
  "write-a-job",
  "write-a-source",
  "write-a-sink",
  "write-a-store",
  "service",
  "console",
  "operate",
  "security",
  "coming-from",
  "troubleshooting",
].map((name) => `docs/guide/${name}.md`);

const REFERENCE = [
  "docs/reference/cli.md",
  "docs/reference/protocol.md",
  "docs/reference/errors.md",
  "docs/reference/wire-format.md",
  "docs/reference/record-format.md",
  "docs/reference/postgres-schema.md",
  "docs/reference/etcd-layout.md",
  "docs/glossary.md",
];

/** Titles for the menu, where the page's own is too long for it. */
const SHORT: Readonly<Record<string, string>> = {
  "docs/guide/README.md": "Overview",
  "docs/guide/coming-from.md": "Coming from other tools",
  "docs/decisions/README.md": "All decisions",
  "docs/README.md": "All documents",
};

/** Every Markdown page of the repository, in the sections of the menu. */
export function readMenu(root: string, made: readonly SitePage[] = []): MenuSection[] {
  const files = treeFiles(root).filter((file) => /^(?!\.).*\.md$/.test(file));
  const left = new Set(files);
  const take = (wanted: readonly string[]): SitePage[] =>
    wanted.filter((file) => left.delete(file)).map((file) => readPage(root, file));
  const ordered = (pattern: RegExp): string[] => files.filter((file) => pattern.test(file));
  const apiOf = (name: string): SitePage[] => made.filter(({ source }) => source === `api:${name}`);
  return [
    { title: "Start", pages: take(["README.md"]) },
    { title: "Guide", pages: take([...GUIDE, ...ordered(/^docs\/guide\//)]) },
    { title: "Reference", pages: take([...REFERENCE, ...ordered(/^docs\/reference\//)]) },
    {
      title: "Packages",
      pages: take(["docs/packages.md"]).concat(
        byLayer().flatMap((name) => [...take([`packages/${name}/README.md`]), ...apiOf(name)]),
      ),
    },
    { title: "Examples", pages: take(ordered(/^examples\//)) },
    { title: "Design", pages: take(["docs/architecture.md", "docs/invariants.md", "docs/performance.md"]) },
    { title: "Decisions", pages: take(["docs/decisions/README.md", ...ordered(/^docs\/decisions\//)]) },
    { title: "Changelogs", pages: take(ordered(/^packages\/[^/]+\/CHANGELOG\.md$/)) },
    { title: "Project", pages: take(files) },
  ].filter(({ pages }) => pages.length > 0);
}

/** The path of a page on the site, for a Markdown file of the repository. */
export function sitePath(file: string): string {
  return file.replace(/(^|\/)README\.md$/, "$1index.html").replace(/\.md$/, ".html");
}

function readPage(root: string, file: string): SitePage {
  const markdown = readFileSync(join(root, file), "utf8");
  const heading = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll("`", "");
  return { source: file, path: sitePath(file), title: SHORT[file] ?? heading ?? file, markdown };
}

/** The command first, then from the highest layer to the lowest. */
function byLayer(): string[] {
  return [...PACKAGES].sort((a, b) => LAYERS[b]!.below.length - LAYERS[a]!.below.length || (a < b ? -1 : 1));
}
