// Mermaid diagrams as SVG, drawn when the site is built: a reader needs no script and no network for them.
import { renderMermaidSVG } from "beautiful-mermaid";
import { createHash } from "node:crypto";
import { escapeHtml } from "./escape-html.ts";

/** The diagram's colors are variables of the style sheet, so it follows the reader's light or dark theme. */
const COLORS = {
  bg: "var(--page)",
  fg: "var(--text)",
  line: "var(--quiet)",
  muted: "var(--quiet)",
  accent: "var(--accent)",
};

export function renderDiagram(code: string): string {
  const prefix = `d${createHash("sha256").update(code).digest("hex").slice(0, 8)}-`;
  const svg = renderMermaidSVG(code, COLORS)
    // The library would load a font from another site.
    .replaceAll(/^\s*@import url\([^)]*\);\n/gm, "")
    // Several diagrams of a page may not share ids.
    .replaceAll(/\bid="([^"]+)"/g, `id="${prefix}$1"`)
    .replaceAll(/url\(#([^)]+)\)/g, `url(#${prefix}$1)`);
  const kind = /^\s*(\w+)/.exec(code)?.[1] ?? "diagram";
  return `<figure class="diagram" role="img" aria-label="${escapeHtml(kind)} diagram">${svg}</figure>\n`;
}
