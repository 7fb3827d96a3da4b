// An alert on a metric that does not exist never fires.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../layers/layers.ts";

const names = (text: string): string[] => [...text.matchAll(/\bgossip_[a-z]+_[a-z_]+\b/g)].map((match) => match[0]);

test("every metric that the guide names is in the reference of the command", () => {
  const known = new Set(names(readFileSync(join(ROOT, "docs/reference/cli.md"), "utf8")));
  const pages = readdirSync(join(ROOT, "docs/guide")).map((name) =>
    readFileSync(join(ROOT, "docs/guide", name), "utf8"),
  );
  const named = new Set(pages.flatMap(names));
  expect(named.size).toBeGreaterThan(3);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});
