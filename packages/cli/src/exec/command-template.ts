import { err, ok, type Result } from "@gossip/stdx";
import { appendItem } from "./append-item.ts";
import { readHereDocument, readRedirection, type HereDocument } from "./here-document.ts";

export type TemplateError =
  | { readonly kind: "EmptyCommand" }
  /** The only `{}` are between single quotes, or in here-documents with a quoted delimiter. */
  | { readonly kind: "PlaceholderQuoted" }
  /** There is no `{}`, and the command does not end in a simple command to which the item can be appended. */
  | { readonly kind: "PlaceholderMissing" }
  /** In `$((…))` some shells execute the value of a name. */
  | { readonly kind: "PlaceholderInArithmetic" };

/**
 * What the scanner is inside of: double quotes, `$(…)`, `$((…))`, backticks, a here-document, a `case`, whose patterns
 * end with a `)`, or a plain `(…)` within those.
 */
type Inside = "base" | "double" | "substitution" | "arithmetic" | "backtick" | "document" | "case" | "group";

/** Text after which a command can start. */
const COMMAND_START = /(?:^|[;&|(\n`]|(?:^|\s)(?:if|then|elif|else|while|until|do|!|\{)\s)[ \t]*$/;

/** The item is used without a placeholder: `$1`, `${1}`, `$@`, `$*`, `$#`. Quoted, they may be those of another program. */
const POSITIONAL = /^\$(?:1|\{1|[@*#])/;
/** Where one command ends and another can start. After `<` or `>` these belong to a redirection. */
const CONTROL_OPERATOR = /[;&|()\n]/;

/**
 * Turn a user's command into the body of a shell function that gets the item as `$1`, and in a variable.
 *
 * `{}` is the item as one word: outside quotes it becomes the quoted variable, between double quotes and in a
 * here-document the variable alone.
 * Between single quotes, and in a here-document with a quoted delimiter, it is left unchanged, as the shell does with
 * everything there. This also keeps a name out of the code of another program, as in `bash -c 'echo {}'`. `\{}` is left
 * unchanged too. To a command that does not mention its item at all, the item is appended, as `xargs` does.
 */
export function parseTemplate(command: string): Result<string, TemplateError> {
  return substitute(command, VARIABLE_ITEM);
}

/**
 * The command for one item, as a user would type it, given the item as a word of a shell. Returns `undefined` if the
 * command cannot be shown so: it is invalid, or uses its item as `$1`, or within quotes.
 */
export function renderCommand(command: string, word: string): string | undefined {
  const rendered = substitute(command, { word, text: undefined });
  return rendered.ok ? rendered.value : undefined;
}

/** What takes the place of the item: as a word, and between double quotes. */
interface ItemForms {
  readonly word: string;
  /** `undefined` if it cannot be there. */
  readonly text: string | undefined;
}

/** The variable that the shell function keeps its item in: functions of the command and `set --` have a `$1` of their own. */
export const ITEM_VARIABLE = "gossip_word";

const VARIABLE_ITEM: ItemForms = { word: `"$${ITEM_VARIABLE}"`, text: `\${${ITEM_VARIABLE}}` };

function substitute(command: string, forms: ItemForms): Result<string, TemplateError> {
  if (command.trim() === "") return err({ kind: "EmptyCommand" });
  const scan = new Scan(command.trimEnd(), forms);
  scan.run();
  if (scan.isUnrenderable) return err({ kind: "PlaceholderQuoted" });
  if (scan.hasPlaceholderInArithmetic) return err({ kind: "PlaceholderInArithmetic" });
  if (scan.quotedCount > 0 && scan.placeholderCount === 0 && !scan.hasPositional)
    return err({ kind: "PlaceholderQuoted" });
  if (command.includes("{}") || scan.hasPositional) return ok(scan.script);
  const appended = appendItem(
    scan.script,
    {
      lastCommand: command.slice(scan.lastCommandAt),
      hasComment: scan.hasComment,
      hasHereDocument: scan.hasHereDocument,
    },
    forms.word,
  );
  return appended === undefined ? err({ kind: "PlaceholderMissing" }) : ok(appended);
}

class Scan {
  script = "";
  placeholderCount = 0;
  quotedCount = 0;
  hasPositional = false;
  hasPlaceholderInArithmetic = false;
  hasComment = false;
  hasHereDocument = false;
  /** Where the last command begins that is not inside of anything. */
  lastCommandAt = 0;
  /** An item is where `forms` has no form for it. */
  isUnrenderable = false;
  readonly #text: string;
  readonly #forms: ItemForms;
  readonly #inside: Inside[];
  /** Here-documents that start after the next line end. */
  readonly #announced: HereDocument[] = [];
  #at = 0;

  constructor(text: string, forms: ItemForms, inside: Inside = "base") {
    this.#text = text;
    this.#forms = forms;
    this.#inside = [inside];
  }

  run(): void {
    while (this.#at < this.#text.length) this.#step();
  }

  #step(): void {
    const inside = this.#inside.at(-1)!;
    const rest = this.#text.slice(this.#at, this.#at + 3);
    const char = rest[0]!;
    const isText = inside === "double" || inside === "document";
    if (char === "\\") return this.#copy(2);
    if (rest.startsWith("{}")) return this.#putItem(isText ? this.#forms.text : this.#forms.word);
    if (POSITIONAL.test(rest)) return this.#copyPositional();
    if (rest === "$((") return this.#enter("arithmetic", 3);
    if (rest.startsWith("$(")) return this.#enter("substitution", 2);
    if (char === "`") return this.#inside.includes("backtick") ? this.#leaveBacktick() : this.#enter("backtick", 1);
    if (char === '"' && inside !== "document") return isText ? this.#leave() : this.#enter("double", 1);
    if (isText) return this.#copy(1);
    if (inside === "arithmetic") return rest.startsWith("))") ? this.#leave(2) : this.#copy(1);
    if (char === "'") return this.#copySingleQuoted();
    if (char === "#" && this.#startsWord()) return this.#copyComment();
    if (rest.startsWith("<<")) return this.#announce();
    if (char === "\n" && this.#announced.length > 0) return this.#copyDocuments();
    if (this.#startsCommand("case")) return this.#enter("case", 4);
    if (inside === "case" && this.#startsCommand("esac")) return this.#leave(4);
    if (char === "(" && this.#inside.length > 1) return this.#enter("group", 1);
    if (char === ")" && this.#inside.length > 1 && inside !== "case") return this.#leave();
    if (this.#inside.length === 1 && CONTROL_OPERATOR.test(char) && !/[<>]/.test(this.#text[this.#at - 1] ?? ""))
      this.lastCommandAt = this.#at + 1;
    return this.#copy(1);
  }

  #putItem(form: string | undefined): void {
    this.isUnrenderable ||= form === undefined;
    this.hasPlaceholderInArithmetic ||= this.#inside.includes("arithmetic");
    this.placeholderCount++;
    this.script += form ?? "";
    this.#at += 2;
  }

  #copyPositional(): void {
    this.hasPositional = true;
    this.isUnrenderable ||= this.#forms.text === undefined;
    this.#copy(2);
  }

  #announce(): void {
    const redirection = readRedirection(this.#text.slice(this.#at));
    if (redirection.document !== undefined) {
      this.hasHereDocument = true;
      this.#announced.push(redirection.document);
    }
    this.#copy(redirection.length);
  }

  #copyDocuments(): void {
    this.#copy(1);
    for (const document of this.#announced.splice(0)) {
      const body = readHereDocument(this.#text.slice(this.#at), document);
      if (document.isQuoted) {
        if (body.includes("{}")) this.quotedCount++;
        this.#copy(body.length);
        continue;
      }
      const inner = new Scan(body, this.#forms, "document");
      inner.run();
      this.isUnrenderable ||= inner.isUnrenderable;
      this.hasPlaceholderInArithmetic ||= inner.hasPlaceholderInArithmetic;
      this.placeholderCount += inner.placeholderCount;
      this.quotedCount += inner.quotedCount;
      this.hasPositional ||= inner.hasPositional;
      this.script += inner.script;
      this.#at += body.length;
    }
  }

  #copyComment(): void {
    this.hasComment = true;
    this.#copy(this.#lengthUntil("\n"));
  }

  #copySingleQuoted(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    const length = (end === -1 ? this.#text.length : end + 1) - this.#at;
    if (this.#text.slice(this.#at, this.#at + length).includes("{}")) this.quotedCount++;
    this.#copy(length);
  }

  #startsCommand(word: string): boolean {
    return (
      this.#text.startsWith(word, this.#at) &&
      !/\w/.test(this.#text[this.#at + word.length] ?? "") &&
      COMMAND_START.test(this.#text.slice(Math.max(0, this.#at - 16), this.#at))
    );
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

  #leave(length = 1): void {
    this.#inside.pop();
    this.#copy(length);
  }

  /** An open inner quote ends with the backticks. */
  #leaveBacktick(): void {
    while (this.#inside.pop() !== "backtick");
    this.#copy(1);
  }

  #copy(length: number): void {
    this.script += this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
  }
}
