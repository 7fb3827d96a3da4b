// A placeholder that is put in wrongly splits a name at its spaces, or hands it to another program as code. What counts is
// what a shell makes of the result, so a shell says what each command prints.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseTemplate } from "./command-template.ts";
import { functionOf } from "./persistent-shell.ts";

const NASTY = "a b  $(echo pwned) 'q' \"d\" \\ *";

/** Machines differ in what `/bin/sh` is. */
const SHELLS = ["/bin/sh", ...(spawnSync("bash", ["-c", ""]).status === 0 ? ["bash"] : [])];

/** What the command prints, in every shell alike. */
function run(command: string, item = NASTY): string {
  const script = `${functionOf(unwrap(parseTemplate(command)))}gossip_item "$1"`;
  const [printed, ...others] = SHELLS.map(
    (shell) => spawnSync(shell, ["-c", script, "sh", item], { encoding: "utf8" }).stdout,
  );
  for (const other of others) expect(other).toBe(printed);
  return printed!;
}

describe("{} is the item, as one word", () => {
  test.each([
    ["alone", "printf '[%s]' {}", `[${NASTY}]`],
    ["twice", "printf '[%s]' {} {}", `[${NASTY}][${NASTY}]`],
    ["as part of a word", "printf '[%s]' x{}y", `[x${NASTY}y]`],
    ["between double quotes", "printf '[%s]' \"x {} y\"", `[x ${NASTY} y]`],
    ["in a command substitution", "printf '[%s]' \"$(printf '<%s>' {})\"", `[<${NASTY}>]`],
    ["in a quoted word within one", "printf '[%s]' \"$(printf '<%s>' \"a {}\")\"", `[<a ${NASTY}>]`],
    [
      "in a case within a substitution",
      "printf '[%s]' \"$(case {} in x) ;; *) printf '<%s>' {} ;; esac)\" \"{}\"",
      `[<${NASTY}>][${NASTY}]`,
    ],
    ["behind a word that is only called case", 'printf \'[%s]\' "$(echo case esac)" "{}"', `[case esac][${NASTY}]`],
    ["in a case with patterns between parentheses", "case {} in (x) ;; (*) printf '[%s]' {} ;; esac", `[${NASTY}]`],
    ["in backticks", "printf '[%s]' \"`printf %s ok; : {}`\" {}", `[ok][${NASTY}]`],
    ["behind parentheses of a subshell", "(printf '[%s]' {})", `[${NASTY}]`],
    ["behind a comment with a quote in it", "# it's fine\nprintf '[%s]' {}", `[${NASTY}]`],
    ["as $1", "printf '[%s]' \"$1\"", `[${NASTY}]`],
    ["in a function of the command", "show() { printf '[%s]' {}; }; show other", `[${NASTY}]`],
    ["behind new arguments", "set -- other; printf '[%s]' {} \"$1\"", `[${NASTY}][other]`],
    ["in a here-document of a function", "show() { cat <<EOF\n{}\nEOF\n}; show other", `${NASTY}\n`],
    ["for another shell", 'sh -c \'printf "[%s]" "$1"\' _ {}', `[${NASTY}]`],
  ])("%s", (_where, command, printed) => {
    expect(run(command)).toBe(printed);
  });
});

test.each([
  ["between single quotes", "printf '[%s]' '{}' {}", `[{}][${NASTY}]`],
  ["behind a backslash", "printf '[%s]' \\{}", "[{}]"],
  ["with something between the braces", "printf '[%s]' '{print}' {}", `[{print}][${NASTY}]`],
])("%s nothing is put in", (_where, command, printed) => {
  expect(run(command)).toBe(printed);
});

test("a name between the quotes of another program's code stays out of it", () => {
  expect(parseTemplate("bash -c 'rm {}'")).toEqual({ ok: false, error: { kind: "PlaceholderQuoted" } });
  expect(parseTemplate("bash <<'EOF'\nrm {}\nEOF")).toEqual({ ok: false, error: { kind: "PlaceholderQuoted" } });
  expect(parseTemplate("sh -c 'rm $1 {}'")).toEqual({ ok: false, error: { kind: "PlaceholderQuoted" } });
  expect(run('sh -c \'printf "[%s]" "$1"; : {}\' _ "$1"')).toBe(`[${NASTY}]`);
});

test("a name is no arithmetic: some shells would run what is in it", () => {
  for (const command of ["echo $(( {} + 1 ))", 'echo "$((1 << {}))"', "cat <<EOF\n$(( {} ))\nEOF"])
    expect(parseTemplate(command)).toEqual({ ok: false, error: { kind: "PlaceholderInArithmetic" } });
});

describe("in a here-document", () => {
  test.each([
    ["it is the name, without quotes", "cat <<EOF\na {} b\nEOF", `a ${NASTY} b\n`],
    [
      "between quotes that mean nothing there",
      "cat <<EOF\n'{}' \"{}\" # {}\nEOF",
      `'${NASTY}' "${NASTY}" # ${NASTY}\n`,
    ],
    ["with tabs that are skipped", "cat <<-EOF\n\t\t{}\n\tEOF\nprintf '[%s]' {}", `${NASTY}\n[${NASTY}]`],
    ["in a command within it", "cat <<EOF\n$(printf '<%s>' {} \"x {}\")\nEOF", `<${NASTY}><x ${NASTY}>\n`],
    ["in backticks within it", "cat <<EOF\n`printf '<%s>' {}`\nEOF", `<${NASTY}>\n`],
    ["in two of them", "cat <<A; cat <<'B'; cat <<C\n{}\nA\n{}\nB\n{}\nC", `${NASTY}\n{}\n${NASTY}\n`],
    ["in one within a substitution", 'printf "[%s]" "$(cat <<EOF\n{}\nEOF\n)"', `[${NASTY}]`],
    ["behind one", "cat <<EOF >/dev/null\nit's \"one\nEOF\nprintf '[%s]' {}", `[${NASTY}]`],
    ["on the line that announces it", "cat - <<EOF; printf '[%s]' {}\nx\nEOF", `x\n[${NASTY}]`],
    ["whose delimiter follows a joined line", "cat <<EOF\nx\\\nEOF\n{}\nEOF", `xEOF\n${NASTY}\n`],
    ["with a quoted delimiter it stays", 'cat <<"EOF"; printf "[%s]" {}\n{} $1\nEOF', `{} $1\n[${NASTY}]`],
    ["with a delimiter behind a backslash it stays", "cat <<\\EOF; printf '[%s]' {}\n{}\nEOF", `{}\n[${NASTY}]`],
    ["with a partly quoted delimiter it stays", "cat <<E'O'F; printf '[%s]' {}\n{}\nEOF", `{}\n[${NASTY}]`],
    ["which a shift is not", "x=$((1 << 2)); printf '[%s]' $x {}", `[4][${NASTY}]`],
    ["which a comment is not", "# cat <<EOF\nprintf '[%s]' {}", `[${NASTY}]`],
    [
      "which a quoted << is not",
      "printf '[%s]' '<<EOF' \"<<EOF\" {}\nprintf '[%s]' {}",
      `[<<EOF][<<EOF][${NASTY}][${NASTY}]`,
    ],
  ])("%s", (_where, command, printed) => {
    expect(run(command)).toBe(printed);
  });
});

test("whatever the name is, every place gets exactly that name", () => {
  const name = fc
    .oneof(
      fc.string({ minLength: 1, maxLength: 12 }),
      fc
        .array(fc.constantFrom("'", '"', "\\", "$", "`", "(", ")", "{}", "EOF", "\n", " ", "*", "\t", "-"), {
          minLength: 1,
          maxLength: 8,
        })
        .map((parts) => parts.join("")),
    )
    // No argument can have these: a zero byte, and text that is no Unicode.
    .filter((text) => !text.includes("\0") && Buffer.from(text).toString() === text);
  const places = [
    "printf '%s\\0' {}",
    "printf '%s\\0' \"{}\"",
    "printf '%s\\0' \"$(printf %s {}; echo .)\"",
    "cat <<EOF; printf '\\0'\n{}\nEOF",
    "cat <<-EOF; printf '\\0'\n\t{}\n\tEOF",
    "cat <<EOF; printf '\\0'\n$(printf %s {}; echo .)\nEOF",
  ];
  const command = places.join("\n");
  fc.assert(
    fc.property(name, (item) => {
      expect(run(command, item).split("\0")).toEqual([
        item,
        item,
        `${item}.`,
        `${item}\n`,
        `${item}\n`,
        `${item}.\n`,
        "",
      ]);
    }),
    { numRuns: 60 },
  );
});

describe("without {}, the item is appended, like xargs", () => {
  test.each([
    ["to a command with arguments", "printf '[%s]' x", `[x][${NASTY}]`],
    ["to one with a redirection", "printf '[%s]' 2>&1", `[${NASTY}]`],
    ["to one with a line end behind it", "printf '[%s]' \n ", `[${NASTY}]`],
    ["to the last of several", "true; true && printf '[%s]' \"a;b\"", `[a;b][${NASTY}]`],
    ["to the end of a pipe", "echo x | printf '[%s]'", `[${NASTY}]`],
    ["but not where $1 is used", "printf '[%s]' \"$1\" x", `[${NASTY}][x]`],
    ["nor where $1 is in a substitution", 'printf "[%s]" "$(echo "$1")"', `[${NASTY}]`],
    ["nor where $# is used", 'printf %s "$#"', "1"],
    ["where another program has a $1", "printf '[%s]' '$1'", `[$1][${NASTY}]`],
    ["where the $ of a $1 is quoted", 'printf "[%s]" "\\$1"', `[$1][${NASTY}]`],
    ["nor to exit", "printf ok; exit 0", "ok"],
  ])("%s", (_where, command, printed) => {
    expect(run(command)).toBe(printed);
  });

  test.each([
    "true;",
    "true &",
    "true |",
    "true &&",
    "(true)",
    "{ true; }",
    "if true; then true; fi",
    "for x in 1; do true; done",
    "case x in x) true;; esac",
    "A=1",
    "A='x y'",
    "A=$(echo x y)",
    "$COMMAND",
    "`true`",
    "> file",
    "2> file",
    "true >",
    "true 2>&",
    "true # it",
    "cat <<EOF\nx\nEOF",
    "cat <<'EOF'\n$1\nEOF",
    "eval",
    "eval 'echo $1'",
    "exec",
    ". ",
    "true \\",
    "!",
  ])("%j is refused: the item would be a command, a comment or an error", (command) => {
    expect(parseTemplate(command)).toEqual({ ok: false, error: { kind: "PlaceholderMissing" } });
  });

  test("whatever the command is, the item is neither run nor written to", () => {
    const folder = mkdtempSync(join(tmpdir(), "gossip-append-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const item = join(folder, "item");
    const content = "#!/bin/sh\ntouch pwned\n";
    writeFileSync(item, content, { mode: 0o755 });
    const word = fc.constantFrom(
      ..."true ; & | && || ( ) { } if then fi A=1 < > 2> >x # 'q' ! do done eval 2>&1 \n case x in esac ;; $X time command for".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (words) => {
        const parsed = parseTemplate(words.join(" "));
        if (!parsed.ok) return;
        const script = `${functionOf(parsed.value)}gossip_item "$1"`;
        spawnSync("sh", ["-c", script, "sh", item], { cwd: folder });
        expect([words.join(" "), existsSync(join(folder, "pwned")), readFileSync(item, "utf8")]).toEqual([
          words.join(" "),
          false,
          content,
        ]);
      }),
      { numRuns: 300 },
    );
  });
});

test.each(["", "  ", "\n\t"])("%j is no command", (command) => {
  expect(parseTemplate(command)).toEqual({ ok: false, error: { kind: "EmptyCommand" } });
});
