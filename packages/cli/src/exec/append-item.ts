/** The shell's words that begin or end a compound command. An item behind them would be an error or a command. */
const RESERVED = new Set(
  "! { } ( ) [[ case do done elif else esac fi for function if in select then time until while".split(" "),
);
/** Builtins that would run the item as code. */
const RUNS_ITS_ARGUMENT = new Set(["eval", "exec", ".", "source", "trap", "command"]);

/** What `appendItem` needs to know about a command. */
export interface CommandEnd {
  /** The text after the last control operator outside quotes. */
  readonly lastCommand: string;
  readonly hasComment: boolean;
  readonly hasHereDocument: boolean;
}

/**
 * Append the item to a command that does not mention it, as `xargs` does. Returns `undefined` unless the command ends in
 * a simple command with a name: the shell could take the item for a command otherwise, or read it as a comment.
 */
export function appendItem(
  command: string,
  { lastCommand, hasComment, hasHereDocument }: CommandEnd,
  word: string,
): string | undefined {
  const [name = ""] = lastCommand.trim().split(/\s+/);
  // `exit` takes no item.
  if (name === "exit") return command;
  const isSimple =
    name !== "" &&
    !RESERVED.has(name) &&
    !RUNS_ITS_ARGUMENT.has(name) &&
    // An assignment, a redirection, or an expansion that may be empty: the item would become the command.
    !/^(?:[A-Za-z_]\w*=|\d*[<>])|[$`]/.test(name) &&
    // The item would be the file of a redirection.
    !/[\\<>&|]$/.test(command.trimEnd());
  return isSimple && !hasComment && !hasHereDocument ? `${command.trimEnd()} ${word}` : undefined;
}
