import { readFile } from "node:fs/promises";
import { S3Error } from "../client/s3-error.ts";

/** Asks a server for credentials. Throws `S3Error` if it does not respond. */
export async function requestKeys(url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal });
  } catch (thrown) {
    const cause = (thrown as Error).cause as NodeJS.ErrnoException | undefined;
    throw new S3Error(signal.aborted ? "ETIMEDOUT" : (cause?.code ?? "Unknown"), { cause: thrown });
  }
}

/** The token that a file holds. Throws `S3Error` if it cannot be read. */
export async function readTokenFile(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (thrown) {
    throw new S3Error("NoTokenFile", { cause: thrown });
  }
}
