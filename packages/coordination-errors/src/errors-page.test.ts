// The reference page is what people read at night with a failing worker. It is printed from the tables, and a page that
// was not printed again after a change tells them something that is no longer so.

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorsPage } from "./errors-page.fixture.ts";

const PAGE = new URL("../../../docs/reference/errors.md", import.meta.url);

test("docs/reference/errors.md says what the tables say; GOSSIP_WRITE_DOCS=1 rewrites it", () => {
  if (process.env["GOSSIP_WRITE_DOCS"] === "1") writeFileSync(PAGE, errorsPage());
  expect(readFileSync(PAGE, "utf8")).toBe(errorsPage());
});
