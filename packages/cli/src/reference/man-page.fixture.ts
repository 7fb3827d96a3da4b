// The man page packages/cli/man/gossip.1, from the same commands as `--help`.
import type { Command, Option } from "commander";
import { descriptionOf } from "../cli.ts";
import { EXIT_CODES } from "../output/exit-codes.ts";
import { VERSION } from "../version.ts";

const FILES = `A run without --store keeps its state in the folder .gossip of the current folder.`;
const ENVIRONMENT = [
  ["GOSSIP_STORE", "the store, where --store names none; keeps a password out of the list of processes"],
  ["GOSSIP_TOKEN", "the token for a service, where --token-file names none"],
  ["GOSSIP_TSO_TOKEN", "the token for a timestamp oracle"],
  ["GOSSIP_ETCD_PASSWORD", "the password of --etcd-user, where --etcd-password-file names no file"],
  ["NO_COLOR", "print without color"],
] as const;

/** The whole page, in the man(7) macros. */
export function manPage(program: Command): string {
  const commands = program.commands.flatMap((command) => sectionsOf(command, "gossip"));
  return [
    `.TH GOSSIP 1 "" "gossip ${VERSION}" "User Commands"`,
    ".SH NAME",
    `gossip \\- ${text("do something to every key of something huge")}`,
    ".SH SYNOPSIS",
    ".B gossip",
    ".I command",
    ".RI [ options ]",
    ".SH DESCRIPTION",
    paragraph(program.description()),
    ".SH COMMANDS",
    ...commands,
    ".SH EXIT STATUS",
    ...Object.values(EXIT_CODES).flatMap(({ code, means }) => item(String(code), means)),
    ".SH ENVIRONMENT",
    ...ENVIRONMENT.flatMap(([name, means]) => item(name, means)),
    ".SH FILES",
    paragraph(FILES),
    "",
  ].join("\n");
}

function sectionsOf(command: Command, parent: string): string[] {
  const described = descriptionOf(command);
  if (described === undefined) return [];
  const name = `${parent} ${command.name()}`;
  const { summary, details, examples } = described;
  const visible = command.options.filter(({ hidden }) => !hidden);
  return [
    `.SS "${text(`${parent} ${described.usage}`)}"`,
    paragraph(`${summary}.`),
    ...(details === undefined ? [] : details.split("\n\n").flatMap(block)),
    ...visible.flatMap((option) => item(option.flags, `${option.description}${suffix(option)}`)),
    ".PP",
    examples.length === 1 ? "Example:" : "Examples:",
    ...preformatted(examples.join("\n")),
    ...command.commands.flatMap((inner) => sectionsOf(inner, name)),
  ];
}

function suffix({ argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? "" : ` (one of ${argChoices.join(", ")})`;
  return defaultValue === undefined ? choices : `${choices} (default ${String(defaultValue)})`;
}

function item(tag: string, means: string): string[] {
  return [".TP", `.B ${text(tag)}`, paragraph(means)];
}

/** Lists in the help are drawn with spaces and keep their lines; everything else is filled. */
function block(words: string): string[] {
  return /^ /m.test(words) ? preformatted(words) : [".PP", paragraph(words)];
}

function preformatted(lines: string): string[] {
  return [
    ".PP",
    ".nf",
    ".RS 4",
    ...lines.split("\n").map((line) => (line === "" ? ".sp" : guarded(text(line)))),
    ".RE",
    ".fi",
  ];
}

function paragraph(words: string): string {
  return guarded(text(words.replaceAll(/\s*\n\s*/g, " ")));
}

/** Text with the characters escaped that roff reads: backslashes, dashes (as in options) and quotes. */
function text(words: string): string {
  return words
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll('"', "\\(dq")
    .replaceAll("`", "\\(ga")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("…", "...");
}

/** A line that begins with a dot would be a request. */
function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
