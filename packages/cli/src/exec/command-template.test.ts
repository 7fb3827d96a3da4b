// A placeholder that is put in wrongly splits a name at its spaces, or hands it to another program as code. What counts is
// what a shell makes of the result, so a shell says what each command prints.
import { spawnSync } from "node:child_process";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { parseTemplate } from "./command-template.ts";
import { functionOf } from "./persistent-shell.ts";

const NASTY = "a b  $(echo pwned) 'q' \"d\" \\ *";

function run(command: string, item = NASTY): string {
  const body = unwrap(parseTemplate(command));
  return spawnSync("/bin/sh", ["-c", `${functionOf(body)}gossip_item "$1"`, "sh", item], { encoding: "utf8" }).stdout;
}

describe("{} is the item, as one word", () => {
  test.each([
    ["alone", "printf '[%s]' {}", `[${NASTY}]`],
    ["twice", "printf '[%s]' {} {}", `[${NASTY}][${NASTY}]`],
    ["as part of a word", "printf '[%s]' x{}y", `[x${NASTY}y]`],
    ["between double quotes", "printf '[%s]' \"x {} y\"", `[x ${NASTY} y]`],
    ["in a command substitution", "printf '[%s]' \"$(printf '<%s>' {})\"", `[<${NASTY}>]`],
    ["in a quoted word within one", "printf '[%s]' \"$(printf '<%s>' \"a {}\")\"", `[<a ${NASTY}>]`],
    ["in backticks", "printf '[%s]' \"`printf %s ok; : {}`\" {}", `[ok][${NASTY}]`],
    ["behind parentheses of a subshell", "(printf '[%s]' {})", `[${NASTY}]`],
    ["behind a comment with a quote in it", "# it's fine\nprintf '[%s]' {}", `[${NASTY}]`],
    ["as $1", "printf '[%s]' \"$1\"", `[${NASTY}]`],
    ["for another shell", 'sh -c \'printf "[%s]" "$1"\' _ {}', `[${NASTY}]`],
  ])("%s", (_where, command, printed) => {
    expect(run(command)).toBe(printed);
  });
});

test.each([
  ["between single quotes", "printf '[%s]' '{}' {}", `[{}][${NASTY}]`],
  ["behind a backslash", "printf '[%s]' \\{}", "[{}]"],
  ["with something between the braces", "printf '[%s]' '{print}'", "[{print}]"],
])("%s nothing is put in", (_where, command, printed) => {
  expect(run(command)).toBe(printed);
});

test("a name between the quotes of another program's code stays out of it", () => {
  expect(parseTemplate("bash -c 'rm {}'")).toEqual({ ok: false, error: { kind: "PlaceholderInSingleQuotes" } });
});

test("a command without a placeholder is run as it is", () => {
  expect(run('printf %s "$#"')).toBe("1");
  expect(unwrap(parseTemplate("true"))).toBe("true");
});

test.each(["", "  ", "\n\t"])("%j is no command", (command) => {
  expect(parseTemplate(command)).toEqual({ ok: false, error: { kind: "EmptyCommand" } });
});
