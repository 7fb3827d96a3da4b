// Builds the site: every page of the repository, the API reference, the search.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { apiPages, readApi } from "./api-pages.ts";
import { htmlPage } from "./page-template.ts";
import { readMenu } from "./pages.ts";
import { renderPage } from "./render-page.ts";
import { searchEntries, searchScript, type SearchEntry } from "./search-index.ts";
import { linksOf } from "./site-links.ts";

export interface BuiltSite {
  readonly pages: number;
  readonly sections: number;
}

/** Write the site to a folder, which is replaced. */
export function buildSite(root: string, target: string): BuiltSite {
  const menu = readMenu(root, apiPages(readApi()));
  const pages = menu.flatMap((section) => section.pages);
  const files = new Map<string, string>();
  const entries: SearchEntry[] = [];
  rmSync(target, { recursive: true, force: true });
  for (const page of pages) {
    const linkTo = linksOf({ root, ...page, onFile: (file, path) => files.set(path, file) });
    const rendered = renderPage(page.markdown, linkTo);
    entries.push(...searchEntries(page.path, page.title, rendered.html, rendered.headings));
    write(join(target, page.path), htmlPage(page, rendered, menu));
  }
  for (const [path, file] of files) copy(join(root, file), join(target, path));
  for (const name of ["site.css", "search.js"])
    copy(join(import.meta.dirname, "assets", name), join(target, "assets", name));
  const minisearch = createRequire(import.meta.url).resolve("minisearch");
  copy(join(dirname(minisearch), "../umd/index.js"), join(target, "assets/minisearch.js"));
  write(join(target, "assets/search-index.js"), searchScript(entries));
  return { pages: pages.length, sections: entries.length };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
