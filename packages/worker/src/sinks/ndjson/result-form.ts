import { join, resolve } from "node:path";

/** How the results of a finished run are stored. */
export interface ResultForm {
  /** The absolute path of the file or folder. */
  readonly path: string;
  /** Whether it is a folder of parts. */
  readonly isFolder: boolean;
  readonly isCompressed: boolean;
}

/** A path that ends with `/` is a folder of parts. A name that ends with `.gz` is compressed. */
export function resultForm(path: string): ResultForm {
  const absolute = resolve(path);
  return { path: absolute, isFolder: path.endsWith("/"), isCompressed: absolute.endsWith(".gz") };
}

/** The path of a part of a folder, from 1. */
export function partPath(folder: string, number: number, { isCompressed }: Pick<ResultForm, "isCompressed">): string {
  return join(folder, `part-${String(number).padStart(5, "0")}.ndjson${isCompressed ? ".gz" : ""}`);
}
