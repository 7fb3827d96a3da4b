// A reference site that lacks a page, links to nowhere, or needs the network is found out by its readers. So the whole site
// is built, every link of it is followed, and a real browser uses it from the disk.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFindings, browserSkipped, openBrowser } from "../browser/index.ts";
import { PACKAGES, ROOT } from "../layers/layers.ts";
import { buildSite, type BuiltSite } from "./build-site.ts";
import { highlight } from "./highlight.ts";
import { brokenLinks } from "./html-links.ts";

let folder: string;
let built: BuiltSite;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gossip-site-"));
  built = buildSite(ROOT, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every page, section and package is there, and every link leads somewhere", () => {
  expect(built.pages).toBeGreaterThan(100);
  for (const name of PACKAGES)
    expect(readFileSync(join(folder, `packages/${name}/api.html`), "utf8")).toContain(`@gossip/${name}`);
  expect(brokenLinks(folder)).toEqual([]);
});

test("the API reference shows comments, declarations and links to other packages", () => {
  const page = readFileSync(join(folder, "packages/coordination/api.html"), "utf8");
  expect(page).toContain('<h2 id="coordinator">');
  expect(page).toContain('href="../contracts/api.html#shardid"');
});

test("broken links, lost and repeated anchors and things of other sites are found", () => {
  const planted = mkdtempSync(join(tmpdir(), "gossip-site-"));
  mkdirSync(join(planted, "below"));
  writeFileSync(join(planted, "a.html"), '<h1 id="top">A</h1><a href="below/b.html#there">b</a><a href="#top">t</a>');
  writeFileSync(join(planted, "twice.html"), '<h1 id="x">A</h1><h2 id="y">B</h2><h2 id="x">C</h2>');
  const links = ["../a.html", "../c.html", "../a.html#gone", "https://example.com"];
  const body = links.map((link) => `<a class="x" href="${link}">x</a>`).join("");
  writeFileSync(join(planted, "below/b.html"), `<p id="there">${body}<img src="https://example.com/x.png"></p>`);
  expect(brokenLinks(planted)).toEqual([
    "below/b.html links to ../c.html, which is not there",
    "below/b.html links to ../a.html#gone: no such place",
    "below/b.html loads https://example.com/x.png from another site",
    "twice.html has two places called x",
  ]);
  rmSync(planted, { recursive: true, force: true });
});

test("code is colored and escaped, and names can be links", () => {
  expect(highlight('if (a < 1) say("<b>"); // x', "ts", (name) => (name === "say" ? "#say" : undefined))).toBe(
    '<span class="keyword">if</span> (a &lt; <span class="number">1</span>) <a href="#say">say</a>(<span class="string">&quot;&lt;b&gt;&quot;</span>); <span class="comment">// x</span>',
  );
  expect(highlight("<unknown>", "text")).toBe("&lt;unknown&gt;");
});

describe.skipIf(browserSkipped() !== undefined)("in a browser, from the disk", () => {
  test("search finds a page, diagrams are drawn, and nothing comes from the network", async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        // axe-core asks for the style sheet by itself, and the page's policy refuses that.
        if (message.type() === "error" && !message.text().includes("connect-src")) problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("request", (request) => void (request.url().startsWith("file:") || problems.push(request.url())));

      await page.goto(pathToFileURL(join(folder, "index.html")).href);
      expect(await page.evaluate("document.querySelector('main img').naturalWidth")).toBeGreaterThan(100);
      await page.goto(pathToFileURL(join(folder, "docs/guide/concepts.html")).href);
      expect(await page.locator("figure.diagram svg").count()).toBe(4);
      expect(await axeFindings(page)).toEqual([]);

      await page.keyboard.press("/");
      await page.keyboard.type("no-such-word etcd");
      await page.locator("#site-results a").first().waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.type("lease");
      await page.locator("#site-results a").first().waitFor();
      expect(await page.locator("#site-results a").first().getAttribute("href")).toMatch(/concepts\.html#lease$/);
      await page.keyboard.press("Escape");
      await page.keyboard.type("restore etcd");
      await page.locator("#site-results a").first().waitFor();
      expect(await page.locator("#site-results a").allTextContents()).toEqual(
        expect.arrayContaining([expect.stringContaining("A snapshot is taken")]),
      );
      await page.keyboard.press("Enter");
      await page.waitForURL(/operate\.html#etcd$/);
      expect(await page.locator("main h1").textContent()).toBe("Operate");

      await page.setViewportSize({ width: 400, height: 800 });
      await page.goto(pathToFileURL(join(folder, "docs/reference/cli.html")).href);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(400);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await axeFindings(page)).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
