// A user who copies a command from a message must get what the message promised. A suggestion that lacks the run or the
// store of the command that printed it acts on another run, or on none.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { readStoreFlags } from "../cli.ts";
import { makeProgram } from "../main.ts";
import { silentCli } from "../reference/cli-page.fixture.ts";
import { completeSuggestions } from "./suggestions.ts";

const PACKAGES = fileURLToPath(new URL("../../../", import.meta.url));
const context = { storeOptions: ["--store", "'my store'"], run: "4f2a90c1d2e4b765", shard: "3" };

describe("completeSuggestions", () => {
  test.each([
    ["`gossip unpark RUN SHARD` helps", "`gossip unpark 4f2a90c1d2e4b765 3 --store 'my store'` helps"],
    ["`gossip runs` and `gossip fsck`", "`gossip runs --store 'my store'` and `gossip fsck --store 'my store'`"],
    ["`gossip keys --help`, `gossip tso get`", "`gossip keys --help`, `gossip tso get`"],
    ["`gossip show --help`", "`gossip show --help`"],
    // It runs where the store is, and takes none of the options that name a service.
    ["`gossip serve` runs there", "`gossip serve` runs there"],
    ["`node x.mjs` and RUN", "`node x.mjs` and RUN"],
  ])("%s", (text, completed) => {
    expect(completeSuggestions(text, context)).toBe(completed);
  });

  test("names a store with a password by the variable that holds it", () => {
    const cli = silentCli();
    expect(readStoreFlags(cli, { store: "postgres://me:hunter2@db/x", tenant: "a".repeat(64) }).ok).toBe(true);
    const options = `--store "$GOSSIP_STORE" --tenant ${"a".repeat(64)}`;
    expect(cli.console.complete("`gossip runs`")).toBe(`\`gossip runs ${options}\``);
  });

  test("leaves out what is not known, and quotes what a shell would split", () => {
    expect(completeSuggestions("`gossip shards RUN --held`", { storeOptions: [] })).toBe("`gossip shards --held`");
    expect(completeSuggestions("`gossip status RUN`", { storeOptions: [], run: "it's" })).toBe(
      "`gossip status 'it'\\''s'`",
    );
  });
});

describe("every command that a message in the sources suggests", () => {
  const found = messages(["cli", "coordination-postgres", "worker"]);

  test("is found", () => {
    expect(found.length).toBeGreaterThanOrEqual(12);
    expect(found).toContain("unpark RUN SHARD");
  });

  test.each(found)("gossip %s is a complete command line", (line) => {
    const parsed: string[] = [];
    const program = makeProgram(silentCli());
    stubActions(program, parsed);
    const argv = completeSuggestions(`\`gossip ${line}\``, context).slice("`gossip ".length, -1);
    const words = argv.replace("'my store'", "store").split(" ");
    if (words.includes("--help")) expect(() => program.parse(words, { from: "user" })).toThrow("(outputHelp)");
    else program.parse(words, { from: "user" });
    expect(words.includes("--help") ? [words[0]] : parsed).toEqual([words[0]]);
  });
});

function stubActions(command: Command, parsed: string[]): void {
  for (const each of command.commands) {
    const top = each.parent?.parent === null ? each : each.parent!;
    if (each.commands.length === 0) each.action(() => void parsed.push(top.name()));
    stubActions(each, parsed);
  }
}

/** The commands between backticks in string literals. Comments are left out. */
function messages(packages: readonly string[]): string[] {
  const lines = packages.flatMap((name) => sourcesBelow(join(PACKAGES, name, "src"))).flatMap(codeLines);
  const suggestions = lines.flatMap((line) =>
    [...line.matchAll(/\\?`gossip ([a-z][^`\\$]*)\\?`/g)].map(([, command]) => command!),
  );
  return [...new Set(suggestions)].toSorted();
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !/\.(test|fixture|bench|test-d)\.ts$/.test(path))
    .map((path) => join(folder, path));
}

function codeLines(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
}
