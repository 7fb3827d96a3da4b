import type { Command } from "commander";
import { evenSplitPoints, keySuccessor, prefixSuccessor, rangeMidpoint } from "@gossip/frontier";
import { compareBytes, ok, type Result } from "@gossip/stdx";
import { acting, addCommand, type Cli, type CommandResult } from "../cli.ts";
import { decodeKey, KEY_FORMS, parseKey, type DecodedKey } from "../keys/key-text.ts";
import { fail, type CliError } from "../output/cli-error.ts";
import { readCount } from "./number-options.ts";

interface Flags {
  readonly json?: boolean;
}

const FORMS_HELP = [
  "A key is written as",
  ...Object.values(KEY_FORMS).map(({ example, means }) => `  ${example.padEnd(20)} ${means}`),
  "and without such a beginning as path:.",
].join("\n");
const MOST_PARTS = 10_000;

/** `gossip keys`: arithmetic on keys, without any store. */
export function registerKeys(program: Command, cli: Cli): void {
  const keys = addCommand(program, {
    usage: "keys",
    summary: "Encode, decode and cut keys",
    details: FORMS_HELP,
    examples: ["gossip keys encode row:7/1000", "gossip keys split path:a path:n --parts 4"],
  });

  registerForms(keys, cli);
  registerSuccessor(keys, cli);
  registerCuts(keys, cli);
}

/** `encode` and `decode`. */
function registerForms(keys: Command, cli: Cli): void {
  keyCommand(keys, {
    usage: "encode <key>",
    summary: "Print the bytes of a key in hexadecimal",
    example: "gossip keys encode 'tuple:[\"eu\",42]'",
  }).action(
    acting(cli, async (text: string, flags: Flags) =>
      onKey(text, (key) => print(cli, flags, { hex: Buffer.from(key).toString("hex") }, (shown) => [shown.hex])),
    ),
  );

  keyCommand(keys, {
    usage: "decode <key>",
    summary: "Print everything that the bytes of a key can be read as",
    example: "gossip keys decode hex:00000000000000070000000000000064",
  }).action(
    acting(cli, async (text: string, flags: Flags) => onKey(text, (key) => print(cli, flags, decodeKey(key), linesOf))),
  );
}

/** `successor`. */
function registerSuccessor(keys: Command, cli: Cli): void {
  keyCommand(keys, {
    usage: "successor <key>",
    summary: "Print the least key above a key, or above all that begin with it",
    example: "gossip keys successor path:logs/ --prefix",
  })
    .option("--prefix", "above every key that begins with it")
    .action(
      acting(cli, async (text: string, flags: Flags & { readonly prefix?: boolean }) =>
        onKey(text, (key) => {
          const next = flags.prefix === true ? prefixSuccessor(key) : keySuccessor(key);
          if (next === undefined)
            return fail("BadCommandLine", "no key is above that one: leave the end of the range open instead.");
          return print(cli, flags, decodeKey(next), linesOf);
        }),
      ),
    );
}

/** `midpoint` and `split`. */
function registerCuts(keys: Command, cli: Cli): void {
  keyCommand(keys, {
    usage: "midpoint <start> <end>",
    summary: "Print a key halfway between two",
    example: "gossip keys midpoint path:a path:b",
  }).action(
    acting(cli, async (start: string, end: string, flags: Flags) =>
      onRange(start, end, (range) => {
        const middle = rangeMidpoint(range);
        if (middle === undefined)
          return fail("BadCommandLine", "no key lies between those two: take keys that are further apart.");
        return print(cli, flags, decodeKey(middle), linesOf);
      }),
    ),
  );

  keyCommand(keys, {
    usage: "split <start> <end>",
    summary: "Print the keys that cut a range into equal parts",
    example: "gossip keys split hex:00 hex:ff --parts 16",
  })
    .option("--parts <count>", "how many parts", "2")
    .action(
      acting(cli, async (start: string, end: string, flags: Flags & { readonly parts: string }) =>
        onRange(start, end, (range) => {
          const parts = readCount("--parts", flags.parts, { min: 2, max: MOST_PARTS });
          if (!parts.ok) return parts;
          for (const point of evenSplitPoints(range, parts.value))
            void print(cli, flags, decodeKey(point), (shown) => [shown.hex]);
          return ok("Ok");
        }),
      ),
    );
}

function keyCommand(
  keys: Command,
  { usage, summary, example }: { readonly usage: string; readonly summary: string; readonly example: string },
): Command {
  return addCommand(keys, { usage, summary, details: FORMS_HELP, examples: [example] }).option(
    "--json",
    "one line of JSON for each result",
  );
}

function onKey(text: string, use: (key: Uint8Array) => CommandResult): CommandResult {
  const key = parseKey(text);
  return key.ok ? use(key.value) : key;
}

function onRange(
  start: string,
  end: string,
  use: (range: { readonly start: Uint8Array; readonly end: Uint8Array }) => CommandResult,
): CommandResult {
  const range = readRange(start, end);
  return range.ok ? use(range.value) : range;
}

function readRange(
  start: string,
  end: string,
): Result<{ readonly start: Uint8Array; readonly end: Uint8Array }, CliError> {
  const [low, high] = [parseKey(start), parseKey(end)];
  if (!low.ok) return low;
  if (!high.ok) return high;
  if (compareBytes(low.value, high.value) >= 0)
    return fail("BadCommandLine", "the first key is not below the second: swap them.");
  return ok({ start: low.value, end: high.value });
}

function print<T extends object>(
  cli: Cli,
  flags: Flags,
  value: T,
  toLines: (value: T) => readonly string[],
): CommandResult {
  if (flags.json === true) cli.console.dataJson(value);
  else cli.console.dataLines(toLines(value));
  return ok("Ok");
}

function linesOf({ size, hex, text, row, tuple }: DecodedKey): string[] {
  const lines = [`hex    ${hex}`, `text   ${text}`];
  if (row !== undefined) lines.push(`row    ${row}`);
  if (tuple !== undefined) lines.push(`tuple  ${tuple}`);
  return [...lines, `size   ${size}`];
}
