import { constants } from "node:os";
import { getSystemErrorMap, getSystemErrorName } from "node:util";

/** A system error as Node throws it: with the fields of a call that failed, also where Node has no name for it. */
export function nodeError(name: string): NodeJS.ErrnoException {
  const errno = errnoOf(name);
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`${code}: ${code}, open '/file'`), { code, errno, syscall: "open" });
}

function errnoOf(name: string): number {
  for (const [errno, [known]] of getSystemErrorMap()) if (known === name) return errno;
  const errno = (constants.errno as Readonly<Record<string, number>>)[name];
  if (errno === undefined) throw new Error(`this platform has no ${name}`);
  return -errno;
}
