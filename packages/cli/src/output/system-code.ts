import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

/** The code of a system error, such as `ENOENT`, also of those that Node knows only by number, such as `EDQUOT`. */
export function systemCode(thrown: unknown): string | undefined {
  const { code, errno } = thrown as NodeJS.ErrnoException;
  if (errno === undefined || getSystemErrorMap().has(errno)) return code;
  return Object.entries(constants.errno).find(([, number]) => number === -errno)?.[0] ?? code;
}
