// People look an exit code up here, at night, in another team's script. A page that was not printed again after a change
// is wrong.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { skippedFor } from "@gossip/tools/engines";
import { makeProgram } from "../main.ts";
import { VERSION } from "../version.ts";
import { cliPage, silentCli } from "./cli-page.fixture.ts";
import { manPage } from "./man-page.fixture.ts";

const PAGE = new URL("../../../../docs/reference/cli.md", import.meta.url);
const MAN_PAGE = new URL("../../man/gossip.1", import.meta.url);
// Bold is printed as letter, backspace, letter.
const BOLD = new RegExp(`.${"\b"}`, "gu");
const MANDOC = "/usr/bin/mandoc";
const noMandoc = skippedFor(existsSync(MANDOC) ? undefined : "mandoc is not installed");

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

test("tables in --help fit a terminal of 80 columns: a row that is broken loses its place", () => {
  const rows = allCommands(makeProgram(silentCli()))
    .flatMap((command) => command.description().split("\n"))
    .filter((line) => line.startsWith(" "));
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.filter((row) => row.length > 80)).toEqual([]);
});

test("man/gossip.1 shows what the command shows; GOSSIP_WRITE_DOCS=1 rewrites it", () => {
  const page = manPage(makeProgram(silentCli()));
  if (process.env["GOSSIP_WRITE_DOCS"] === "1") writeFileSync(MAN_PAGE, page);
  expect(readFileSync(MAN_PAGE, "utf8")).toBe(page);
});

test.skipIf(noMandoc !== undefined)("mandoc finds nothing wrong with it, and prints every command", () => {
  const path = fileURLToPath(MAN_PAGE);
  // The page has no date, so that the same commit prints the same page.
  const problems = spawnSync(MANDOC, ["-Tlint", "-Wwarning", path], { encoding: "utf8" }).stdout.trim().split("\n");
  expect(problems).toEqual([expect.stringContaining("missing date")]);
  const shown = execFileSync(MANDOC, ["-Tutf8", "-Owidth=200", path], { encoding: "utf8" }).replaceAll(BOLD, "");
  for (const command of makeProgram(silentCli()).commands)
    if (command.name() !== "help") expect(shown).toContain(`gossip ${command.name()}`);
});

function allCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}
