import { posix } from "node:path";
import { escapeHtml } from "./escape-html.ts";
import type { MenuSection, SitePage } from "./pages.ts";
import type { Heading, RenderedPage } from "./render-page.ts";

/**
 * A whole HTML page. Every link is relative, so the site works in any folder, and without a server. Its own ids begin with
 * `site-`: all others belong to headings.
 */
export function htmlPage(page: SitePage, { html, headings }: RenderedPage, menu: readonly MenuSection[]): string {
  const up = posix.relative(posix.dirname(page.path), "") || ".";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'self' file:">
<title>${escapeHtml(page.title)}${page.path === "index.html" ? "" : " · Gossip"}</title>
<link rel="stylesheet" href="${up}/assets/site.css">
</head>
<body data-up="${up}">
<a class="skip" href="#site-content">Skip to the content</a>
<header>
<a class="home" href="${up}/index.html">Gossip</a>
<a class="to-menu" href="#site-menu">All pages</a>
<form role="search"><input type="search" id="site-search" placeholder="Search" aria-label="Search all pages" autocomplete="off"></form>
</header>
<div id="site-results" role="region" aria-label="Search results" aria-live="polite" hidden></div>
<div class="columns">
<nav class="menu" id="site-menu" aria-label="All pages">
${menu.map((section) => menuSection(section, page, up)).join("\n")}
</nav>
<main id="site-content" tabindex="-1">
${html}
</main>
<nav class="contents" aria-label="On this page">
${contents(headings)}
</nav>
</div>
<script src="${up}/assets/minisearch.js" defer></script>
<script src="${up}/assets/search.js" defer></script>
</body>
</html>
`;
}

function menuSection({ title, pages }: MenuSection, current: SitePage, up: string): string {
  const links = pages.map((page) => {
    const here = page.path === current.path ? ' aria-current="page"' : "";
    return `<li><a href="${up}/${page.path}"${here}>${escapeHtml(page.title)}</a></li>`;
  });
  const isOpen = pages.some((page) => page.path === current.path) || title === "Guide";
  return `<details${isOpen ? " open" : ""}><summary>${title}</summary><ul>${links.join("")}</ul></details>`;
}

function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return "";
  return `<p>On this page</p><ul>${shown
    .map(({ level, anchor, text }) => `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`)
    .join("")}</ul>`;
}
