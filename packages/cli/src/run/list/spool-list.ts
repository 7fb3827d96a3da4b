import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../../output/cli-error.ts";
import { printableText } from "../../output/printable.ts";
import { UniqueEntries } from "./unique-entries.ts";

export interface SpoolRequest {
  /** Where lists are kept. */
  readonly folder: string;
  readonly input: AsyncIterable<Uint8Array>;
  /** The byte behind each entry. */
  readonly separator: number;
  /** Whether to leave out entries that came before. */
  readonly isUnique: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The file of a list, named after its content. */
export function listFile(folder: string, digest: string): string {
  return join(folder, `${digest}.list`);
}

/**
 * Copy a list to a file that is on disk when this returns, and return the SHA-256 of its content, which is its name. So
 * a list is never changed by another one, and a run that has the name has the list. Returns `Aborted`, which is no name, if
 * the signal fires first.
 */
export async function spoolList(request: SpoolRequest): Promise<Result<string, CliError>> {
  const { folder, signal } = request;
  const temporary = join(folder, `${randomUUID()}.tmp`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const digest = await copyTo(temporary, request);
    if (digest === undefined) return ok("Aborted");
    await rename(temporary, listFile(folder, digest));
    await syncFolder(folder);
    return ok(digest);
  } catch (thrown) {
    if (signal?.aborted === true) return ok("Aborted");
    const { code = "for an unknown reason" } = thrown as NodeJS.ErrnoException;
    return fail(
      "SourceUnreadable",
      `the list cannot be stored in ${printableText(folder)} (${code}): make room there, then run the same command again.`,
    );
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns `undefined` if the signal fires first. */
async function copyTo(path: string, { input, separator, isUnique, signal }: SpoolRequest): Promise<string | undefined> {
  const hash = createHash("sha256");
  const unique = isUnique ? new UniqueEntries(separator) : undefined;
  const file = await open(path, "wx", 0o600);
  try {
    const write = async (bytes: Uint8Array): Promise<void> => {
      hash.update(bytes);
      await file.writeFile(bytes);
    };
    for await (const chunk of untilAborted(input, signal))
      await write(unique === undefined ? chunk : unique.push(chunk));
    if (signal?.aborted === true) return undefined;
    if (unique !== undefined) await write(unique.end());
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

/** The program that writes the list may be silent for long. */
async function* untilAborted(
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const iterator = input[Symbol.asyncIterator]();
  const aborted = new Promise<undefined>((resolve) =>
    signal?.addEventListener("abort", () => resolve(undefined), { once: true }),
  );
  for (;;) {
    const next = await Promise.race([iterator.next(), aborted]);
    if (next === undefined || signal?.aborted === true || next.done === true) return;
    yield next.value;
  }
}

/** Whether a list is there, as it was stored. */
export async function isListWhole(folder: string, digest: string): Promise<boolean> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(listFile(folder, digest))) hash.update(chunk as Buffer);
  } catch {
    return false;
  }
  return hash.digest("hex") === digest;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
