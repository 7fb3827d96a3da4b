// A link that leads out of a package is dead for everyone who installs it.
import { expect, test } from "vitest";
import { packedPages } from "./pack-links.ts";

const pages: Readonly<Record<string, string>> = {
  "docs/reference/cli.md": "# Cli\n\nSee [errors](errors.md), [here](#cli) and [there](https://example.com).\n",
};
const packed = (readme: string) => packedPages(readme, "packages/x", (path) => pages[path]);

test("a page outside the package travels with it, without links that lead further", () => {
  const { readme, pages: taken } = packed(
    "[the codes](../../docs/reference/cli.md#cli), [`code`](../../docs/reference/cli.md)\n",
  );
  expect(readme).toBe("[the codes](docs/reference/cli.md#cli), [`code`](docs/reference/cli.md)\n");
  expect([...taken]).toEqual([
    ["docs/reference/cli.md", "# Cli\n\nSee errors, [here](#cli) and [there](https://example.com).\n"],
  ]);
});

test("links inside the package, within the page and to other sites stay; a link to what is no page becomes text", () => {
  const readme = "[a](openapi.json) [b](#b) [c](https://example.com) [d](../../examples)\n";
  expect(packed(readme)).toEqual({
    readme: "[a](openapi.json) [b](#b) [c](https://example.com) d\n",
    pages: new Map(),
  });
});
