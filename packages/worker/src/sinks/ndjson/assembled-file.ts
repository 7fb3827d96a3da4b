import { crc32 } from "node:zlib";
import { codeOf } from "../../sources/system-words.ts";
import type { SinkFailedKind } from "../sink-failed.ts";
import type { PartFiles, ReadFile } from "./part-files.ts";
import type { PartToken } from "./part-token.ts";

/** What is wrong with an assembled file. */
export interface AssembledFlaw {
  readonly kind: Extract<SinkFailedKind, "ResultsMissing" | "ResultsDamaged">;
  /** One sentence for users. */
  readonly reason: string;
}

const CHUNK_SIZE = 1024 * 1024;

/**
 * Returns what is wrong with the assembled file of these shards, or `undefined` if it has exactly the bytes that their
 * tokens describe.
 *
 * The file is the concatenation of the shards' results, and each token has the size and checksum of its shard's. So the
 * tokens, which are stored in the run's records, identify the file: old results of the same size cannot pass as new.
 */
export async function findFlaw(
  files: PartFiles,
  path: string,
  chains: readonly (PartToken | undefined)[],
): Promise<AssembledFlaw | undefined> {
  let file: ReadFile;
  try {
    file = await files.open(path);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return { kind: "ResultsMissing", reason: `the results in ${path} are missing` };
    throw thrown;
  }
  try {
    let position = 0;
    for (const token of chains) {
      if (token === undefined) continue;
      const crc = await checksumOf(file, position, token.total);
      if (crc === undefined) return damaged(path, "it is shorter than it was");
      if (token.crc !== undefined && crc !== token.crc) return damaged(path, "some of its bytes differ");
      position += token.total;
    }
    const isLonger = (await file.read(Buffer.alloc(1), position)) > 0;
    return isLonger ? damaged(path, "it is longer than it was") : undefined;
  } finally {
    await file.close();
  }
}

/** Returns `undefined` if the file ends too early. */
async function checksumOf(file: ReadFile, start: number, size: number): Promise<number | undefined> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_SIZE, size));
  let crc = 0;
  for (let done = 0; done < size;) {
    const chunk = buffer.subarray(0, Math.min(buffer.length, size - done));
    if ((await file.read(chunk, start + done)) < chunk.length) return undefined;
    crc = crc32(chunk, crc);
    done += chunk.length;
  }
  return crc;
}

function damaged(path: string, what: string): AssembledFlaw {
  return { kind: "ResultsDamaged", reason: `the results in ${path} are not those that were written: ${what}` };
}
