import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { extname, join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import { FILES_FOLDER } from "./files-folder.ts";

/** A file of the console, ready to be sent. */
export interface ConsoleFile {
  readonly body: Uint8Array;
  readonly gzip: Uint8Array;
  readonly contentType: string;
  /** Of the body. Use it as the entity tag. */
  readonly hash: string;
}

/** The files by their path below the console's own, such as `index.html`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Reads the files of the console from the package. Every call reads them again, so call it once, at the start.
 *
 * The result is empty if the package was not built, which happens only in a clone of the repository.
 */
export function consoleFiles(): ConsoleFiles {
  const folder = fileURLToPath(FILES_FOLDER);
  return new Map(namesIn(folder).map((name) => [name, readConsoleFile(join(folder, name))]));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw thrown;
  }
}

function readConsoleFile(path: string): ConsoleFile {
  const body = readFileSync(path);
  return {
    body,
    gzip: gzipSync(body, { level: constants.Z_BEST_COMPRESSION }),
    contentType: CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    hash: createHash("sha256").update(body).digest("base64url"),
  };
}
