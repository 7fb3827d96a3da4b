// Links between Markdown pages: the file has to exist, and the heading, too.
import { dirname, join, normalize } from "node:path";
import type { Finding } from "./finding.ts";
import type { SourceText } from "./tree.ts";

export interface Link {
  readonly line: number;
  /** As it is written, without a title. */
  readonly target: string;
}

const INLINE = /!?\[(?:[^[\]]|\[[^[\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^\[[^\]]+\]:\s+<?(\S+?)>?\s*$/;

/** The links of a page, without those in code. */
export function linksIn(page: string): Link[] {
  return proseLines(page).flatMap(({ text, line }) => {
    const prose = text.replaceAll(/(`+)[^]*?\1/g, (code) => " ".repeat(code.length));
    const targets = [...prose.matchAll(INLINE)].map((match) => match[1]!);
    const reference = REFERENCE.exec(prose)?.[1];
    return [...targets, ...(reference === undefined ? [] : [reference])].map((target) => ({ line, target }));
  });
}

/** The anchors of a page's headings, as GitHub makes them. Our site makes the same. */
export function anchorsIn(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const { text } of proseLines(page)) {
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(text)?.[1];
    if (heading !== undefined) anchors.add(uniqueAnchor(anchorOf(heading), anchors));
  }
  return anchors;
}

/** The anchor of a heading, given as Markdown. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** A heading that a page has twice gets a number the second time. */
export function uniqueAnchor(anchor: string, taken: ReadonlySet<string>): string {
  if (!taken.has(anchor)) return anchor;
  for (let count = 1; ; count++) if (!taken.has(`${anchor}-${count}`)) return `${anchor}-${count}`;
}

/** Links of the page that lead nowhere. `readPage` returns a page's text, and `undefined` for what is no page. */
export function deadLinks(
  { file, text }: SourceText,
  exists: (path: string) => boolean,
  readPage: (path: string) => string | undefined,
): Finding[] {
  return linksIn(text).flatMap(({ line, target }) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
    const [path = "", anchor] = decodeURI(target).split("#");
    const to = path === "" ? file : normalize(join(dirname(file), path));
    if (path !== "" && (to.startsWith("..") || !exists(to)))
      return [{ file, line, what: `links to ${target}, which does not exist` }];
    if (anchor === undefined) return [];
    const page = path === "" ? text : readPage(to);
    return page !== undefined && anchorsIn(page).has(anchor)
      ? []
      : [{ file, line, what: `links to ${target}, and ${to} has no such heading` }];
  });
}

function proseLines(page: string): { readonly text: string; readonly line: number }[] {
  const lines: { text: string; line: number }[] = [];
  let fence: string | undefined;
  for (const [index, text] of page.split("\n").entries()) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (fence === undefined && mark === undefined) lines.push({ text, line: index + 1 });
    else if (fence === undefined) fence = mark;
    else if (mark !== undefined && mark.startsWith(fence)) fence = undefined;
  }
  return lines;
}
