import { err, ok, type Result } from "@gossip/stdx";

export type TemplateError = { readonly kind: "EmptyCommand" } | { readonly kind: "PlaceholderInSingleQuotes" };

/** What the scanner is inside of: between double quotes, in `$(…)`, in backticks, or in a plain `(…)` within those. */
type Inside = "base" | "double" | "substitution" | "backtick" | "group";

/**
 * A command of the user as a shell function's body, in which the item is `$1`.
 *
 * `{}` stands for the item as one word: outside quotes it becomes `"$1"`, between double quotes `${1}`. Between single
 * quotes it stays as it is, as everything does there for the shell; this also keeps a name out of the text of
 * another program, as in `bash -c 'echo {}'`, where it would be read as code. `\{}` stays too. A command
 * without any `{}` is run as it is.
 */
export function parseTemplate(command: string): Result<string, TemplateError> {
  if (command.trim() === "") return err({ kind: "EmptyCommand" });
  const scan = new Scan(command);
  scan.run();
  if (scan.quotedCount > 0 && scan.placeholderCount === 0) return err({ kind: "PlaceholderInSingleQuotes" });
  return ok(scan.script);
}

class Scan {
  script = "";
  placeholderCount = 0;
  quotedCount = 0;
  readonly #text: string;
  readonly #inside: Inside[] = ["base"];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    while (this.#at < this.#text.length) this.#step();
  }

  #step(): void {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const char = rest[0]!;
    const isDouble = this.#inside.at(-1) === "double";
    if (char === "\\") return this.#copy(2);
    if (rest === "{}") {
      this.placeholderCount++;
      this.script += isDouble ? "${1}" : '"$1"';
      this.#at += 2;
      return;
    }
    if (rest === "$(") return this.#enter("substitution", 2);
    if (char === '"') return isDouble ? this.#leave() : this.#enter("double", 1);
    if (char === "`") return this.#inside.includes("backtick") ? this.#leaveBacktick() : this.#enter("backtick", 1);
    if (isDouble) return this.#copy(1);
    if (char === "'") return this.#copySingleQuoted();
    if (char === "#" && this.#startsWord()) return this.#copy(this.#lengthUntil("\n"));
    if (char === "(" && this.#inside.length > 1) return this.#enter("group", 1);
    if (char === ")" && this.#inside.length > 1) return this.#leave();
    return this.#copy(1);
  }

  #copySingleQuoted(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    const length = (end === -1 ? this.#text.length : end + 1) - this.#at;
    if (this.#text.slice(this.#at, this.#at + length).includes("{}")) this.quotedCount++;
    this.#copy(length);
  }

  #startsWord(): boolean {
    return this.#at === 0 || /[\s;&|(]/.test(this.#text[this.#at - 1]!);
  }

  #lengthUntil(stop: string): number {
    const end = this.#text.indexOf(stop, this.#at);
    return (end === -1 ? this.#text.length : end) - this.#at;
  }

  #enter(inside: Inside, length: number): void {
    this.#inside.push(inside);
    this.#copy(length);
  }

  #leave(): void {
    this.#inside.pop();
    this.#copy(1);
  }

  /** An inner quote that was left open does not outlive the backticks. */
  #leaveBacktick(): void {
    while (this.#inside.pop() !== "backtick");
    this.#copy(1);
  }

  #copy(length: number): void {
    this.script += this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
  }
}
