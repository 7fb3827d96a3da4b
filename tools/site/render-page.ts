// Turns Markdown into HTML: anchors, links between pages, highlighted code, diagrams.
import { Marked, type Tokens } from "marked";
import { anchorOf, uniqueAnchor } from "../tidy/links.ts";
import { escapeHtml } from "./escape-html.ts";
import { highlight } from "./highlight.ts";
import { renderDiagram } from "./render-diagram.ts";

export interface Heading {
  readonly level: number;
  readonly anchor: string;
  /** Plain text. */
  readonly text: string;
}

export interface RenderedPage {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Code of so many characters stays on one line: a break after the first dash of an option is hard to read. */
const WHOLE_CODE = 24;

/** `linkTo` turns a link as the page writes it into one that works on the site. */
export function renderPage(markdown: string, linkTo: (target: string) => string): RenderedPage {
  const headings: Heading[] = [];
  const anchors = new Set<string>();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const anchor = uniqueAnchor(anchorOf(text), anchors);
        anchors.add(anchor);
        headings.push({ level: depth, anchor, text: plainText(text) });
        const link = depth === 1 ? "" : ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        return `<a href="${escapeHtml(linkTo(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }: Tokens.Image): string {
        return `<img src="${escapeHtml(linkTo(href))}" alt="${escapeHtml(text)}">`;
      },
      codespan({ text }: Tokens.Codespan): string {
        return `<code${text.length <= WHOLE_CODE ? ' class="whole"' : ""}>${escapeHtml(text)}</code>`;
      },
      code({ text, lang }: Tokens.Code): string {
        return renderCode(text, lang ?? "");
      },
      table(token: Tokens.Table): string {
        const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td"): string =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>\n`;
        const body = token.rows.map((cells) => row(cells, "td")).join("");
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(markdown.replaceAll(/<!--[^]*?-->\n?/g, ""), { async: false });
  return { html, headings };
}

function renderCode(code: string, info: string): string {
  const [language = ""] = info.split(" ");
  if (language === "mermaid") return renderDiagram(code);
  const label = info.endsWith(" output") ? "Output" : (/ (?:from|to) (\S+)/.exec(info)?.[1] ?? "");
  const caption = label === "" ? "" : `<figcaption>${escapeHtml(label)}</figcaption>`;
  const kind = label === "Output" ? "output" : "code";
  return `<figure class="${kind}">${caption}<pre tabindex="0"><code>${highlight(code, language)}\n</code></pre></figure>\n`;
}

/** The text of a heading without Markdown. */
function plainText(markdown: string): string {
  return markdown.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*_]/g, "");
}
