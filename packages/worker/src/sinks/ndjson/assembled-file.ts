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
      const { crc, first } = await checksumOf(results, token.total);
      const last = results.partName;
      if (crc === undefined)
        return damaged(path, last === undefined ? "some are missing at the end" : `some are missing after ${last}`);
      if (token.crc !== undefined && crc !== token.crc)
        return damaged(path, `some of their bytes differ${first === undefined ? "" : inParts(first, last!)}`);
    }
    if ((await results.read(1)).length === 0) return undefined;
    const { partName } = results;
    return damaged(path, `there are more than there were${partName === undefined ? "" : inParts(partName, partName)}`);
  } catch (thrown) {
    // Compressed bytes that cannot be read.
    if (codeOf(thrown)?.startsWith("Z_") === true)
      return damaged(path, `${results.partName ?? "they"} cannot be decompressed`);
    throw thrown;
  } finally {
    await results.close();
  }
}

interface Checksum {
  /** `undefined` if the results end too early. */
  readonly crc: number | undefined;
  /** The name of the part where these bytes begin, if the results are in parts. */
  readonly first: string | undefined;
}

async function checksumOf(results: ResultReader, size: number): Promise<Checksum> {
  let crc = 0;
  let first: string | undefined;
  for (let done = 0; done < size;) {
    const chunk = await results.read(size - done);
    if (chunk.length === 0) return { crc: undefined, first };
    first ??= results.partName;
    crc = crc32(chunk, crc);
    done += chunk.length;
  }
  return { crc, first };
}

/** Where the damage is. A checksum is that of a shard, whose results may be in several parts. */
function inParts(first: string, last: string): string {
  return first === last ? `, in ${first}` : `, in a file from ${first} to ${last}`;
}

function damaged(path: string, what: string): AssembledFlaw {
  return { kind: "ResultsDamaged", reason: `the results in ${path} are not those that were written: ${what}` };
}
