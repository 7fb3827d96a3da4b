import type { SourceError } from "../source-error.ts";
import { codeOf, systemWords } from "../system-words.ts";

export function noFile(path: string): SourceError {
  return { kind: "SourceInvalid", reason: `${path} is not a file that can be read from any offset` };
}

/** Why a file cannot be read. */
export function fileError(path: string, thrown: unknown): SourceError {
  switch (codeOf(thrown)) {
    case "ENOENT":
      return { kind: "SourceMissing", reason: `there is no file ${path}` };
    case "EISDIR":
      return noFile(path);
    case undefined:
    default:
      return { kind: "SourceUnreadable", reason: `the file ${path} cannot be read: ${systemWords(thrown)}` };
  }
}
