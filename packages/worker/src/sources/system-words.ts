const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EIO: "the disk cannot be read",
  ENAMETOOLONG: "its path is too long",
  ELOOP: "its path goes through too many links",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

/** A system error in words for users. */
export function systemWords(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code === undefined) return "unknown reason";
  const words = WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

export function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === "object" && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}
