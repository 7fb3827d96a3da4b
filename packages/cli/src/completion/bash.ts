import { shellWord } from "../output/suggestions.ts";
import { allCommands, nameOf, type CommandNode } from "./command-tree.ts";

/** A completion script for bash. Where it has no word to offer, bash completes file names. */
export function bashScript(tree: CommandNode): string {
  const commands = allCommands(tree);
  const known = commands.slice(1).map(({ path }) => shellWord(path));
  return `# bash completion for gossip. Load it with: source <(gossip completion bash)
_gossip() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
      ${known.join(" | ")}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path|$previous" in
${commands.flatMap(valueCases).join("\n")}
  esac
  case "$path" in
${commands.map(wordCase).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gossip gossip
`;
}

/** What follows an option that takes a value: one of its choices, or a file name. */
function valueCases({ path, options }: CommandNode): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ long, short, choices }) => {
      const names = short === undefined ? [long] : [long, `-${short}`];
      const pattern = names.map((name) => shellWord(`${path}|${name}`)).join(" | ");
      const reply =
        choices.length === 0 ? "" : ` COMPREPLY=($(compgen -W ${shellWord(choices.join(" "))} -- "$current"));`;
      return `    ${pattern})${reply} return ;;`;
    });
}

function wordCase({ path, commands, choices, options }: CommandNode): string {
  const words = [...commands.map(nameOf), ...choices, ...options.map(({ long }) => long)];
  return `    ${shellWord(path)}) words=${shellWord(words.join(" "))} ;;`;
}
