import { crc32 } from "node:zlib";
import { codeOf } from "../../sources/system-words.ts";
import type { SinkFailedKind } from "../sink-failed.ts";
import type { PartFiles } from "./part-files.ts";
import type { PartToken } from "./part-token.ts";
import type { ResultForm } from "./result-form.ts";
import { ResultReader } from "./result-reader.ts";

/** What is wrong with the assembled results. */
export interface AssembledFlaw {
  readonly kind: Extract<SinkFailedKind, "ResultsMissing" | "ResultsDamaged">;
  /** One sentence for users. */
  readonly reason: string;
}

/**
 * Returns what is wrong with the assembled results of these shards, or `undefined` if they have exactly the bytes that
 * their tokens describe.
 *
 * They are the concatenation of the shards' results, and each token has the size and checksum of its shard's. So the
 * tokens, which are stored in the run's records, identify them: old results of the same size cannot pass as new.
 */
export async function findFlaw(
  files: PartFiles,
  form: ResultForm,
  chains: readonly (PartToken | undefined)[],
): Promise<AssembledFlaw | undefined> {
  const { path } = form;
  let results: ResultReader;
  try {
    results = await ResultReader.open(files, form);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return { kind: "ResultsMissing", reason: `the results in ${path} are missing` };
    throw thrown;
  }
  try {
    for (const token of chains) {
      if (token === undefined) continue;
      const crc = await checksumOf(results, token.total);
      if (crc === undefined) return damaged(path, "some are missing at the end");
      if (token.crc !== undefined && crc !== token.crc) return damaged(path, "some of their bytes differ");
    }
    const isLonger = (await results.read(1)).length > 0;
    return isLonger ? damaged(path, "there are more than there were") : undefined;
  } catch (thrown) {
    // Compressed bytes that cannot be read.
    if (codeOf(thrown)?.startsWith("Z_") === true) return damaged(path, "they cannot be decompressed");
    throw thrown;
  } finally {
    await results.close();
  }
}

/** Returns `undefined` if the results end too early. */
async function checksumOf(results: ResultReader, size: number): Promise<number | undefined> {
  let crc = 0;
  for (let done = 0; done < size;) {
    const chunk = await results.read(size - done);
    if (chunk.length === 0) return undefined;
    crc = crc32(chunk, crc);
    done += chunk.length;
  }
  return crc;
}

function damaged(path: string, what: string): AssembledFlaw {
  return { kind: "ResultsDamaged", reason: `the results in ${path} are not those that were written: ${what}` };
}
