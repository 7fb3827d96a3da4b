import type { SourceError } from "../source-error.ts";
import { SourceReadFailed } from "../source-read-failed.ts";
import { codeOf, systemWords } from "../system-words.ts";
import { RootLost } from "./tree-root.ts";

/** Whether an entry listed a moment ago is gone, or was replaced by a file or a link. */
export function hasVanished(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Running out of file descriptors is not the folder's fault and is temporary, so the folder must not count as
 * unreadable.
 */
export function isShortage(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "EMFILE" || code === "ENFILE" || code === "ENOMEM";
}

const TRANSIENT: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "EIO",
  "ESTALE",
  "EAGAIN",
  "EBUSY",
  "EINTR",
  "ETIMEDOUT",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTCONN",
  "EREMOTEIO",
]);

/** Whether the same call may succeed a moment later, for example after a disk or network failure. */
export function isTransient(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code !== undefined && TRANSIENT.has(code);
}

/** Why the root cannot be listed. */
export function rootError(root: string, thrown: unknown): SourceError {
  // Worth waiting for: the folder may be put back, and a process that starts later reads what is there then.
  if (thrown instanceof RootLost && thrown.code === "ENOTDIR")
    return { kind: "SourceUnreadable", reason: `something else has taken the place of the folder ${root}` };
  switch (codeOf(thrown)) {
    case "ENOENT":
      return { kind: "SourceMissing", reason: `there is no folder ${root}` };
    case "ENOTDIR":
      return { kind: "SourceInvalid", reason: `${root} is not a folder` };
    case undefined:
    default:
      return { kind: "SourceUnreadable", reason: `the folder ${root} cannot be read: ${systemWords(thrown)}` };
  }
}

export function unreadableFolder(thrown: unknown): string {
  return `a folder cannot be read: ${systemWords(thrown)}`;
}

export function stopAt(thrown: unknown): SourceReadFailed {
  return new SourceReadFailed({ kind: "SourceUnreadable", reason: unreadableFolder(thrown) }, { cause: thrown });
}
