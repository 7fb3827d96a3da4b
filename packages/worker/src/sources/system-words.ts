const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EIO: "the disk cannot be read",
  ENAMETOOLONG: "its path is too long",
  ELOOP: "its path goes through too many links",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

/** What the system said, for a person. */
export function systemWords(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code === undefined) return "it is not known why";
  const words = WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

export function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === "object" && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}
