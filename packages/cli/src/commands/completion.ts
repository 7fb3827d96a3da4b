import { Argument, type Command } from "commander";
import { ok } from "@gossip/stdx";
import { acting, addCommand, type Cli } from "../cli.ts";
import { bashScript } from "../completion/bash.ts";
import { commandTree, type CommandNode } from "../completion/command-tree.ts";
import { fishScript } from "../completion/fish.ts";
import { zshScript } from "../completion/zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } satisfies Record<
  string,
  (tree: CommandNode) => string
>;
type Shell = keyof typeof SCRIPTS;

/** `gossip completion`: a script that teaches a shell the commands and options. */
export function registerCompletion(program: Command, cli: Cli): void {
  addCommand(program, {
    usage: "completion",
    summary: "Print a script that completes commands and options in a shell",
    examples: [
      "source <(gossip completion bash)",
      "autoload -U compinit && compinit && source <(gossip completion zsh)",
      "gossip completion fish > ~/.config/fish/completions/gossip.fish",
    ],
  })
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action(
      acting(cli, async (shell: Shell) => {
        cli.console.stdout.write(SCRIPTS[shell](commandTree(program)));
        return ok("Ok");
      }),
    );
}
