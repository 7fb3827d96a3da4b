import type { Command, Option } from "commander";

/** What a shell completes: the commands and options of the program, as data. */
export interface CommandNode {
  /** The commands that lead to it, without `gossip`: `""`, `run`, `keys encode`. */
  readonly path: string;
  readonly summary: string;
  readonly commands: readonly CommandNode[];
  /** The words that its arguments are chosen from. */
  readonly choices: readonly string[];
  readonly options: readonly OptionNode[];
}

export interface OptionNode {
  readonly long: string;
  /** Without its dash. */
  readonly short: string | undefined;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly description: string;
}

/** The tree of a program's commands. Hidden options are left out. */
export function commandTree(command: Command, path = ""): CommandNode {
  const commands = command.commands.map((inner) =>
    commandTree(inner, path === "" ? inner.name() : `${path} ${inner.name()}`),
  );
  const help = { long: "--help", short: "h", takesValue: false, choices: [], description: "show what there is" };
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== undefined).map(optionNode);
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  return { path, summary: command.summary(), commands, choices, options: [...options, help] };
}

/** Every command of a tree, the program itself first. */
export function allCommands(node: CommandNode): CommandNode[] {
  return [node, ...node.commands.flatMap(allCommands)];
}

/** The last word of a command's path. */
export function nameOf({ path }: CommandNode): string {
  return path.slice(path.lastIndexOf(" ") + 1);
}

function optionNode({ long, short, required, optional, argChoices = [], description }: Option): OptionNode {
  return {
    long: long!,
    short: short?.slice(1),
    takesValue: required || optional,
    choices: argChoices,
    description: description.replaceAll(/\s+/g, " "),
  };
}
