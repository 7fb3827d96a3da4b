import { RunId, type ShardKey } from "@gossip/contracts";
import { join } from "node:path";
import { codeOf, systemWords } from "../../sources/system-words.ts";
import { SinkFailed } from "../sink-failed.ts";
import type { PartFiles, ReadFile } from "./part-files.ts";
import { isSamePart, MAX_HEADER_SIZE, parseHeader, partFileName, type PartHeader } from "./part-header.ts";
import type { PartToken } from "./part-token.ts";

/** The folder of the parts of all runs with this output file. */
export function partsFolder(path: string): string {
  return `${path}.parts`;
}

/** The folder of a run's parts. */
export function runFolder(path: string, run: ShardKey["run"]): string {
  return join(partsFolder(path), RunId.format(run));
}

/** A part, up to the bytes that count. The caller closes the file. */
export interface CountedPart {
  readonly file: ReadFile;
  readonly header: PartHeader;
  readonly headerSize: number;
}

/** Open the part that a token names, and check that it holds what the token describes. */
export async function openCounted(
  files: PartFiles,
  folder: string,
  run: RunId,
  token: PartToken,
): Promise<CountedPart> {
  const name = partFileName(token.part);
  let file: ReadFile;
  try {
    file = await files.open(join(folder, name));
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") throw missing(name, "is missing", thrown);
    throw new SinkFailed("Unwritable", `the part ${name} cannot be read: ${systemWords(thrown)}`, { cause: thrown });
  }
  try {
    const bytes = Buffer.alloc(Math.min(MAX_HEADER_SIZE, token.size));
    const parsed = parseHeader(bytes.subarray(0, await file.read(bytes, 0)));
    if (parsed === undefined) throw damagedPart(name);
    if (parsed.header.run !== run || !isSamePart(parsed.header.part, token.part))
      throw missing(name, "belongs to another run or lease");
    if (token.size <= parsed.size || token.size - parsed.size !== token.total - (parsed.header.previous?.total ?? 0)) {
      throw missing(name, "does not match the part before it");
    }
    // Results are whole lines, so the last byte that counts is a newline.
    const last = Buffer.alloc(1);
    if ((await file.read(last, token.size - 1)) !== 1)
      throw missing(name, `has fewer than the ${token.size} bytes that count`);
    if (last[0] !== 0x0a) throw damagedPart(name);
    return { file, header: parsed.header, headerSize: parsed.size };
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

function missing(name: string, what: string, cause?: unknown): SinkFailed {
  return new SinkFailed("PartMissing", `the part ${name}, which holds results that count, ${what}`, { cause });
}

/** The bytes of a part are not those that were written. */
export function damagedPart(name: string): SinkFailed {
  return new SinkFailed("PartDamaged", `the part ${name}, which holds results that count, is damaged`);
}

/** The error for a failed write, with a message for users. */
export function writeFailure(thrown: unknown, what: string): SinkFailed {
  if (thrown instanceof SinkFailed) return thrown;
  const code = codeOf(thrown);
  if (code === "ENOSPC" || code === "EDQUOT")
    return new SinkFailed("DiskFull", `${what} cannot be written: no space left (${code})`, { cause: thrown });
  return new SinkFailed("Unwritable", `${what} cannot be written: ${systemWords(thrown)}`, { cause: thrown });
}
