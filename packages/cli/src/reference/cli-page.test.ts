// The page is what people look an exit code up in, at night, in somebody else's script. One that was not printed again
// after a change tells them something that is no longer so.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSION } from "../version.ts";
import { cliPage } from "./cli-page.fixture.ts";

const PAGE = new URL("../../../../docs/reference/cli.md", import.meta.url);

test("docs/reference/cli.md says what the command says; GOSSIP_WRITE_DOCS=1 rewrites it", () => {
  if (process.env["GOSSIP_WRITE_DOCS"] === "1") writeFileSync(PAGE, cliPage());
  expect(readFileSync(PAGE, "utf8")).toBe(cliPage());
});

test("the command has the version of its package", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect(VERSION).toBe(manifest.version);
});
