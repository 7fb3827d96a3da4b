// A completion that does not load, or that offers words of another command, is worse than none. So each script is loaded
// into its shell and asked what it offers.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { skippedFor } from "@gossip/tools/engines";
import { makeProgram } from "../main.ts";
import { silentCli } from "../reference/cli-page.fixture.ts";
import { bashScript } from "./bash.ts";
import { allCommands, commandTree, nameOf } from "./command-tree.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const TREE = commandTree(makeProgram(silentCli()));

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "gossip-completion-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Shell {
  readonly name: string;
  readonly script: string;
  /** Prints what the shell offers for the last of the words, one a line, after the script in `$1` was loaded. */
  readonly ask: (path: string, words: readonly string[]) => readonly string[];
}

const SHELLS: readonly Shell[] = [
  {
    name: "bash",
    script: bashScript(TREE),
    ask: (path, words) => [
      "-c",
      'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gossip; printf "%s\\n" "${COMPREPLY[@]}"',
      "bash",
      path,
      ...words,
    ],
  },
  {
    name: "zsh",
    script: zshScript(TREE),
    // The functions of the completion system print what they are given; everything else is the script's own.
    ask: (path, words) => [
      "-f",
      "-c",
      `compdef() { : }; _files() { print files }; compadd() { shift; print -l -- $@ }
      _describe() { local entry; for entry in \${(P)2}; do entry=\${entry%%:*}; [[ $entry == \${words[CURRENT]}* ]] && print -- $entry; done }
      source "$1"; shift; words=("$@"); CURRENT=$#; _gossip; exit 0`,
      "zsh",
      path,
      ...words,
    ],
  },
  {
    name: "fish",
    script: fishScript(TREE),
    ask: (path, words) => [
      "--no-config",
      "-c",
      "source $argv[1]; complete -C (string join ' ' -- $argv[2..])",
      path,
      ...words,
    ],
  },
];

describe.each(SHELLS)("$name", ({ name, script, ask }) => {
  const missing = skippedFor(hasShell(name) ? undefined : `${name} is not installed`);
  const offered = (...words: string[]): string[] => {
    const path = join(folder, `gossip.${name}`);
    writeFileSync(path, script);
    const printed = execFileSync(name, ask(path, ["gossip", ...words]), { cwd: folder, encoding: "utf8" });
    return printed
      .split("\n")
      .map((line) => line.split("\t")[0]!)
      .filter((line) => line !== "")
      .sort();
  };

  test.skipIf(missing !== undefined)("offers every command that begins with what was typed", () => {
    expect(offered("sta")).toEqual(["status"]);
    const all = TREE.commands.map(nameOf).sort();
    expect(offered("")).toEqual(expect.arrayContaining(all));
  });

  test.skipIf(missing !== undefined)("offers the commands of a command", () => {
    expect(offered("keys", "en")).toEqual(["encode"]);
  });

  test.skipIf(missing !== undefined)("offers the options of the command that was typed, and of no other", () => {
    expect(offered("run", "--exe")).toEqual(["--exec"]);
    expect(offered("status", "--exe")).toEqual([]);
  });

  test.skipIf(missing !== undefined)("offers the choices of an option", () => {
    expect(offered("run", "--on-fail", "")).toEqual(expect.arrayContaining(["park", "skip"]));
  });

  test.skipIf(missing !== undefined)("offers the choices of an argument", () => {
    expect(offered("completion", "z")).toEqual(["zsh"]);
    expect(offered("completion", "")).toEqual(expect.arrayContaining(["bash", "fish", "zsh"]));
  });

  test("has every option of every command", () => {
    for (const { options } of allCommands(TREE))
      for (const { long } of options) expect(script).toContain(name === "fish" ? `-l ${long.slice(2)} ` : long);
  });
});

function hasShell(name: string): boolean {
  try {
    execFileSync(name, ["-c", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
