/** A here-document that a command announces with `<<DELIMITER`. */
export interface HereDocument {
  readonly delimiter: string;
  /** A quote or a backslash in the delimiter: the shell takes the text as it is. */
  readonly isQuoted: boolean;
  /** `<<-`: tabs at the beginning of lines do not count. */
  readonly skipsTabs: boolean;
}

/** Read `text` from `<<` on: the length of the operator with its word, and what it announces. A here-string `<<<` announces nothing. */
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

/** The here-document that `text` begins with, its delimiter's line included; all of it if the delimiter is missing. */
export function readHereDocument(text: string, { delimiter, isQuoted, skipsTabs }: HereDocument): string {
  let end = 0;
  let isContinued = false;
  while (end < text.length) {
    const lineEnd = text.indexOf("\n", end);
    const line = text.slice(end, lineEnd === -1 ? text.length : lineEnd);
    end = lineEnd === -1 ? text.length : lineEnd + 1;
    if (!isContinued && (skipsTabs ? line.replace(/^\t+/, "") : line) === delimiter) break;
    // A backslash at its end joins a line with the next.
    isContinued = !isQuoted && /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
  }
  return text.slice(0, end);
}
