// A page that moves, or a heading that is reworded, breaks links silently. Each way for a link to be wrong is planted here.
import { describe, expect, test } from "vitest";
import { anchorOf, anchorsIn, deadLinks, linksIn } from "./links.ts";

const pages: Readonly<Record<string, string>> = {
  "docs/a.md": "# A page\n\n## Two words\n\n## Two words\n\n```sh\n# not a heading\n```\n",
  "docs/picture.svg": "",
};

function dead(text: string): string[] {
  const findings = deadLinks(
    { file: "docs/guide/page.md", text },
    (path) => path in pages,
    (path) => (path.endsWith(".md") ? pages[path] : undefined),
  );
  return findings.map(({ what }) => what);
}

describe("deadLinks", () => {
  test("links to files, headings, headings of the page itself and other sites are fine", () => {
    expect(
      dead(
        "# Top\n[a](../a.md) [b](../a.md#two-words-1) ![c](../picture.svg) [d](#top) [e](https://example.com/x#y)\n\n[f]: ../a.md",
      ),
    ).toEqual([]);
  });

  test.each([
    ["[a](../b.md)", "links to ../b.md, which does not exist"],
    ["[a](../a.md#three)", "links to ../a.md#three, and docs/a.md has no such heading"],
    ["[a](../a.md#not-a-heading)", "links to ../a.md#not-a-heading, and docs/a.md has no such heading"],
    ["[a](#nowhere)", "links to #nowhere, and docs/guide/page.md has no such heading"],
    ["[a](../../../a.md)", "links to ../../../a.md, which does not exist"],
    ["[a]: ../b.md", "links to ../b.md, which does not exist"],
    ["[`code`](../b.md)", "links to ../b.md, which does not exist"],
  ])("%s is a finding", (text, what) => {
    expect(dead(text)).toEqual([what]);
  });

  test("code has no links", () => {
    expect(linksIn("`[a](b.md)`\n\n```md\n[a](b.md)\n```\n")).toEqual([]);
  });
});

test("anchors are those of GitHub", () => {
  expect(anchorOf("What it does *not* do")).toBe("what-it-does-not-do");
  expect(anchorOf("Lines of `--json`")).toBe("lines-of---json");
  expect(anchorOf("[A link](a.md), and more")).toBe("a-link-and-more");
  expect([...anchorsIn(pages["docs/a.md"]!)]).toEqual(["a-page", "two-words", "two-words-1"]);
});
