import { toJsonSafe } from "@gossip/contracts";
import { ERROR_KINDS, type CliError } from "./cli-error.ts";
import { EXIT_CODES, type ExitName } from "./exit-codes.ts";
import type { Log } from "../logging/log.ts";
import { maskCredentials, maskedJson } from "@gossip/insight";
import { completeSuggestions, type SuggestionContext } from "./suggestions.ts";

/** The part of an output stream that this package uses. */
export interface OutputStream {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  /** Whether the reader is slow, so that new writes are buffered in this process. */
  readonly writableNeedDrain?: boolean;
  once?(event: "drain", listener: () => void): unknown;
}

export interface ConsoleOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
}

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof STYLES;

/**
 * Prints for people and programs. Results go to stdout and messages to stderr, so that a pipe gets only results. With
 * `--json` every result is one line of JSON. Credentials are masked in all of it, except in data that the user asked for
 * as it is (`dataLines`, `dataJson`). Commands that a message suggests are completed (`completeSuggestions`).
 */
export class Console {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly #env: NodeJS.ProcessEnv;
  #room: Promise<void> | undefined;
  #suggestions: SuggestionContext = { storeOptions: [] };
  isJson = false;
  /** Where messages and errors go instead of plain lines on stderr. */
  log: Log | undefined;

  constructor({ stdout, stderr, env }: ConsoleOptions) {
    this.stdout = stdout;
    this.stderr = stderr;
    this.#env = env;
  }

  /** The width of a line on stdout. `undefined` (no limit) if stdout is not a terminal or has no size. */
  get width(): number | undefined {
    return this.stdout.isTTY === true && this.stdout.columns !== 0 ? this.stdout.columns : undefined;
  }

  get hasUnicode(): boolean {
    const locale = this.#env["LC_ALL"] || this.#env["LC_CTYPE"] || this.#env["LANG"] || "";
    if (this.#env["TERM"] === "linux" || this.#env["TERM"] === "dumb") return false;
    return locale === "" || /utf-?8/i.test(locale);
  }

  /** Whether a view can be redrawn in place: the stream is a terminal that knows its size. */
  canRedraw(stream: OutputStream): boolean {
    return stream.isTTY === true && stream.columns !== 0 && this.#env["TERM"] !== "dumb";
  }

  /** `text`, colored if `stream` is a terminal and colors are not turned off. */
  styled(stream: OutputStream, style: Style, text: string): string {
    const isWanted = stream.isTTY === true && (this.#env["NO_COLOR"] ?? "") === "" && this.#env["TERM"] !== "dumb";
    return isWanted ? `\u001b[${STYLES[style][0]}m${text}\u001b[${STYLES[style][1]}m` : text;
  }

  line(text = ""): void {
    this.stdout.write(`${maskCredentials(text)}\n`);
  }

  lines(texts: readonly string[]): void {
    if (texts.length > 0) this.stdout.write(`${texts.map(maskCredentials).join("\n")}\n`);
  }

  json(value: object): void {
    const { message } = value as { readonly message?: unknown };
    const completed = typeof message === "string" ? { ...value, message: this.complete(message) } : value;
    this.stdout.write(`${maskedJson(toJsonSafe(completed))}\n`);
  }

  /** Print the user's data unchanged. */
  dataLines(texts: readonly string[]): void {
    if (texts.length > 0) this.stdout.write(`${texts.join("\n")}\n`);
  }

  /** Print the user's data as a line of JSON. */
  dataJson(value: object): void {
    this.stdout.write(`${JSON.stringify(toJsonSafe(value))}\n`);
  }

  /** Resolves when the reader of stdout has caught up. `undefined` if it is not behind. */
  whenRead(): Promise<void> | undefined {
    if (this.stdout.writableNeedDrain !== true) return undefined;
    // Shared by all callers.
    this.#room ??= new Promise((resolve) => {
      this.stdout.once?.("drain", () => {
        this.#room = undefined;
        resolve();
      });
    });
    return this.#room;
  }

  note(text: string): void {
    if (this.log !== undefined) return this.log.line("info", this.complete(text));
    this.stderr.write(`${maskCredentials(this.complete(text))}\n`);
  }

  /** What suggested commands refer to from now on. */
  suggestFor(context: Partial<SuggestionContext>): void {
    this.#suggestions = { ...this.#suggestions, ...context };
  }

  /** Print an error. Returns how the command ends. */
  fail({ kind, message: incomplete }: CliError): ExitName {
    const { exit } = ERROR_KINDS[kind];
    const message = this.complete(incomplete);
    if (this.log !== undefined) this.log.line("error", message, { kind, exitCode: EXIT_CODES[exit].code });
    else if (this.isJson)
      this.stderr.write(`${maskedJson({ error: { kind, message, exitCode: EXIT_CODES[exit].code } })}\n`);
    else this.stderr.write(`${this.styled(this.stderr, "red", "gossip:")} ${maskCredentials(message)}\n`);
    return exit;
  }

  /** A message with its suggested commands completed. `note`, `fail` and messages in JSON are completed already. */
  complete(text: string): string {
    return completeSuggestions(text, this.#suggestions);
  }
}
