import { allCommands, nameOf, type CommandNode, type OptionNode } from "./command-tree.ts";

/** A completion script for fish, with descriptions. */
export function fishScript(tree: CommandNode): string {
  const commands = allCommands(tree);
  const known = commands.slice(1).map(({ path }) => quote(path));
  return `# fish completion for gossip. Load it with: gossip completion fish | source
function __gossip_is
  set -l route
  for word in (commandline -opc)[2..]
    set -l next (string join ' ' -- $route $word)
    contains -- "$next" ${known.join(" ")}; and set route "$next"
  end
  test "$route" = "$argv[1]"
end
complete -c gossip -e
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf({ path, commands, choices, options }: CommandNode): string[] {
  const when = `complete -c gossip -n ${quote(`__gossip_is ${quote(path)}`)}`;
  return [
    ...commands.map((command) => `${when} -f -a ${quote(nameOf(command))} -d ${quote(command.summary)}`),
    ...choices.map((choice) => `${when} -f -a ${quote(choice)}`),
    ...options.map((option) => `${when} ${flagsOf(option)} -d ${quote(option.description)}`),
  ];
}

function flagsOf({ long, short, takesValue, choices }: OptionNode): string {
  const names = [`-l ${long.slice(2)}`, ...(short === undefined ? [] : [`-s ${short}`])];
  if (takesValue) names.push(choices.length === 0 ? "-r" : `-x -a ${quote(choices.join(" "))}`);
  return names.join(" ");
}

/** A word for fish: between single quotes, where only a quote and a backslash are special. */
function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
