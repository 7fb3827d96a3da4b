/** What a thrown value says, for people. The coordinator cuts it to the size of a note. */
export function errorText(cause: unknown): string {
  try {
    const text = cause instanceof Error ? cause.message : String(cause);
    return text === "" ? "it failed without a message" : text;
  } catch {
    return "it failed with a value that has no text";
  }
}
