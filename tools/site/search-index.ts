// The search index: one entry for each section of each page.
import MiniSearch from "minisearch";
import type { Heading } from "./render-page.ts";

export interface SearchEntry {
  /** The link, from the root of the site. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  /** The headings that the section is below, without the title of the page. */
  readonly above: string;
  readonly text: string;
}

/** `assets/search.js` has to load the index with the same options. */
const OPTIONS = { fields: ["heading", "above", "page", "text"], storeFields: ["page", "heading", "shown"] };
/** Enough to show what a hit is about. */
const SHOWN_LENGTH = 160;

/** The sections of a page. `html` is cut at its headings. */
export function searchEntries(path: string, title: string, html: string, headings: readonly Heading[]): SearchEntry[] {
  const parts = html.split(/<h[1-6] id="[^"]*">/).slice(1);
  return parts.map((part, index) => {
    const { anchor, text, level } = headings[index]!;
    const [, body = ""] = part.split(/<\/h[1-6]>/);
    return {
      id: level === 1 ? path : `${path}#${anchor}`,
      page: title,
      heading: text,
      above: headingsAbove(headings, index).join(" "),
      text: `${plain(body)} ${wordsOf(text)}`.trim(),
    };
  });
}

/** The headings that a section is below, the nearest first, without the title of the page. */
function headingsAbove(headings: readonly Heading[], index: number): string[] {
  let { level } = headings[index]!;
  return headings.slice(0, index).reduceRight<string[]>((above, heading) => {
    if (heading.level >= level || heading.level === 1) return above;
    level = heading.level;
    return [...above, heading.text];
  }, []);
}

/** A script that makes the index a global variable, so that it also works without a server. */
export function searchScript(entries: readonly SearchEntry[]): string {
  const search = new MiniSearch<SearchEntry>(OPTIONS);
  search.addAll(entries.map((entry) => ({ ...entry, shown: beginning(entry.text) })));
  return `globalThis.gossipSearchIndex = ${JSON.stringify(search)};\n`;
}

/** The first words of a text. */
function beginning(text: string): string {
  if (text.length <= SHOWN_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf(" ", SHOWN_LENGTH))} …`;
}

/** A name in camel case is found by its words, too. */
function wordsOf(heading: string): string {
  const apart = heading.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, " ");
  return apart === heading ? "" : apart;
}

function plain(html: string): string {
  return (
    html
      .replaceAll(/<svg[^]*?<\/svg>/g, " ")
      // Colored code has spans within words.
      .replaceAll(/<\/?span[^>]*>/g, "")
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(
        /&(amp|lt|gt|quot|#39);/g,
        (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"' })[name] ?? "'",
      )
      .replaceAll(/\s+/g, " ")
      .trim()
  );
}
