// Colors for code: comments, strings, numbers and keywords. Enough to read by, and no library.
import { escapeHtml } from "./escape-html.ts";

interface Language {
  readonly comment: RegExp;
  readonly keywords: readonly string[];
}

const NO_COMMENT = /(?!)/;
const TYPESCRIPT: Language = {
  comment: /\/\/[^\n]*|\/\*[^]*?\*\//,
  keywords:
    "abstract any as async await bigint boolean break case catch class const continue declare default do else export extends false finally for from function get if implements import in infer instanceof interface is keyof let never new null number of private readonly return set static string switch this throw true try type typeof undefined unknown void while with yield".split(
      " ",
    ),
};
const LANGUAGES: Readonly<Record<string, Language>> = {
  js: TYPESCRIPT,
  json: { comment: NO_COMMENT, keywords: ["true", "false", "null"] },
  sh: {
    comment: /(?<=^|\s)#[^\n]*/m,
    keywords: "if then else elif fi for in do done while until case esac export unset cd set".split(" "),
  },
  sql: {
    comment: /--[^\n]*/,
    keywords:
      "ALTER AND AS BY CASCADE CREATE DELETE DROP FROM GROUP IN INDEX INSERT INTO IS NOT NULL ON OR ORDER SCHEMA SELECT SET TABLE UPDATE VALUES WHERE".split(
        " ",
      ),
  },
  ts: TYPESCRIPT,
};
const STRING = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/;
const NUMBER = /\b\d[\d_]*(?:\.\d+)?n?\b/;
const WORD = /[A-Za-z_$][\w$]*/;

type PieceKind = "comment" | "string" | "number" | "keyword";

/** Code as HTML. `link` returns the address that a name leads to, if any. */
export function highlight(
  code: string,
  language: string,
  link: (name: string) => string | undefined = () => undefined,
): string {
  const known = LANGUAGES[language];
  if (known === undefined) return escapeHtml(code);
  const keywords = new Set(known.keywords);
  const pattern = new RegExp([known.comment, STRING, NUMBER, WORD].map(({ source }) => `(${source})`).join("|"), "gm");
  let html = "";
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [text, comment, string, number] = match;
    html += escapeHtml(code.slice(end, match.index));
    end = match.index + text.length;
    if (comment !== undefined) html += piece("comment", text);
    else if (string !== undefined) html += piece("string", text);
    else if (number !== undefined) html += piece("number", text);
    else html += keywords.has(text) ? piece("keyword", text) : name(text, link(text));
  }
  return html + escapeHtml(code.slice(end));
}

function piece(kind: PieceKind, text: string): string {
  return `<span class="${kind}">${escapeHtml(text)}</span>`;
}

function name(text: string, address: string | undefined): string {
  return address === undefined ? escapeHtml(text) : `<a href="${escapeHtml(address)}">${escapeHtml(text)}</a>`;
}
