import { shellWord } from "../output/suggestions.ts";
import { allCommands, nameOf, type CommandNode } from "./command-tree.ts";

/** A completion script for zsh, with descriptions. */
export function zshScript(tree: CommandNode): string {
  const commands = allCommands(tree);
  const known = commands.slice(1).map(({ path }) => shellWord(path));
  return `#compdef gossip
# zsh completion for gossip. Load it with: source <(gossip completion zsh)
_gossip() {
  local route= word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${route:+$route }$word" in
      ${known.join(" | ")}) route="\${route:+$route }$word" ;;
    esac
  done
  case "$route|\${words[CURRENT-1]}" in
${commands.flatMap(valueCases).join("\n")}
  esac
  case "$route" in
${commands.map(wordCase).join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe option options
  elif (( \${#commands} )); then
    _describe command commands
  else
    _files
  fi
}
# The body of a file in a folder of $fpath runs as the function that completes.
if [[ "\${funcstack[1]}" == _gossip ]]; then _gossip "$@"; else compdef _gossip gossip; fi
`;
}

function valueCases({ path, options }: CommandNode): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ long, short, choices }) => {
      const names = short === undefined ? [long] : [long, `-${short}`];
      const pattern = names.map((name) => shellWord(`${path}|${name}`)).join(" | ");
      const action = choices.length === 0 ? "_files" : `compadd -- ${choices.map((word) => shellWord(word)).join(" ")}`;
      return `    ${pattern}) ${action}; return ;;`;
    });
}

function wordCase({ path, commands, choices, options }: CommandNode): string {
  const described = [...commands.map((command) => `${nameOf(command)}:${command.summary}`), ...choices].map(shellWord);
  const flags = options.map(({ long, description }) => shellWord(`${long}:${description}`));
  return `    ${shellWord(path)}) commands=(${described.join(" ")}); options=(${flags.join(" ")}) ;;`;
}
