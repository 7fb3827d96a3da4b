/** A here-document that a command announces with `<<DELIMITER`. */
export interface HereDocument {
  readonly delimiter: string;
  /** The delimiter contains a quote or a backslash: the shell does not expand the text. */
  readonly isQuoted: boolean;
  /** `<<-`: leading tabs are ignored. */
  readonly skipsTabs: boolean;
}

/**
 * Read `text` from `<<` on. Returns the length of the operator with its word, and the here-document. A here-string
 * `<<<` has none.
 */
export function readRedirection(text: string): {
  readonly length: number;
  readonly document: HereDocument | undefined;
} {
  if (text.startsWith("<<<")) return { length: 3, document: undefined };
  const operator = /^<<-?[ \t]*/.exec(text)![0];
  const word = /^(?:'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|[^\s;&|<>()'"\\])*/.exec(text.slice(operator.length))![0];
  return {
    length: operator.length + word.length,
    document: {
      delimiter: word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])/g, "$1$2$3"),
      isQuoted: /['"\\]/.test(word),
      skipsTabs: operator.startsWith("<<-"),
    },
  };
}

/**
 * The here-document at the start of `text`, including its delimiter line. All of `text` if the delimiter is missing.
 */
export function readHereDocument(text: string, { delimiter, isQuoted, skipsTabs }: HereDocument): string {
  let end = 0;
  let isContinued = false;
  while (end < text.length) {
    const lineEnd = text.indexOf("\n", end);
    const line = text.slice(end, lineEnd === -1 ? text.length : lineEnd);
    end = lineEnd === -1 ? text.length : lineEnd + 1;
    if (!isContinued && (skipsTabs ? line.replace(/^\t+/, "") : line) === delimiter) break;
    // A trailing backslash joins a line with the next.
    isContinued = !isQuoted && /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
  }
  return text.slice(0, end);
}
