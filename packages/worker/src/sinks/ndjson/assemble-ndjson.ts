import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import type { RunId } from "@gossip/contracts";
import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { codeOf } from "../../sources/system-words.ts";
import { SinkFailed, type SinkFailedKind } from "../sink-failed.ts";
import { PART_FILES, type PartFiles, type ReadFile } from "./part-files.ts";
import { damagedPart, openCounted, partsFolder, runFolder, writeFailure } from "./part-folder.ts";
import { findFlaw } from "./assembled-file.ts";
import { partFileName } from "./part-header.ts";
import { decodeToken, type PartToken } from "./part-token.ts";
import { partPath, resultForm, type ResultForm } from "./result-form.ts";
import { FileWriter, FolderWriter, type ResultWriter } from "./result-writer.ts";

export interface AssembleRequest {
  /** The path that was given to the sink. */
  readonly path: string;
  /** The most bytes of a part before compression, if the path is a folder. Default: 256 MiB. */
  readonly partSize?: number;
  readonly run: RunId;
  /** The cursor tokens of all shards that were not split, in range order. */
  readonly tokens: readonly (Uint8Array | undefined)[];
}

export interface AssembledNdjson {
  /** The size of the whole file, in bytes. */
  readonly size: number;
}

/** Why results could not be assembled. The parts and an older output file are left unchanged. */
export interface AssembleError {
  readonly kind: SinkFailedKind;
  /** One sentence for users. */
  readonly reason: string;
}

const COPY_SIZE = 1024 * 1024;
const DEFAULT_PART_SIZE = 256 * 1024 * 1024;

/**
 * Join the results that count from the parts of a finished run in key order, and remove the parts. They become one file,
 * or a folder of `part-00001.ndjson` and so on if the path ends with `/`. If the name ends with `.gz` they are compressed.
 *
 * The file or folder appears whole or not at all. It is safe to call this again after a crash at any point, and from several
 * processes at once: if parts are gone and the file has exactly the bytes that the tokens describe, it was assembled
 * before. Otherwise a missing or damaged part is an error, and nothing is removed.
 */
export function assembleNdjson(request: AssembleRequest): Promise<Result<AssembledNdjson, AssembleError>> {
  return assembleWith(PART_FILES, request);
}

/** `assembleNdjson` on a given file system. */
export async function assembleWith(
  files: PartFiles,
  request: AssembleRequest,
): Promise<Result<AssembledNdjson, AssembleError>> {
  const form = formOf(request);
  const { path } = form;
  const { run, partSize = DEFAULT_PART_SIZE } = request;
  assertCount(partSize, "partSize", { min: 1, max: Number.MAX_SAFE_INTEGER });
  try {
    const chains = request.tokens.map(readToken);
    const assembly = { files, form, path, folder: runFolder(path, run), run, chains, partSize };
    try {
      await writeWhole(assembly);
    } catch (thrown) {
      if (!isGone(thrown)) throw thrown;
      if (!(await isAssembled(assembly))) await writeFromDoomed(assembly, thrown);
    }
    await removeParts(assembly);
    return ok({ size: sizeOf(chains) });
  } catch (thrown) {
    const { kind, message } = writeFailure(thrown, path);
    return err({ kind, reason: message });
  }
}

/**
 * Check that the assembled file of a finished run exists with exactly the bytes that were written. Reads the whole
 * file.
 */
export function verifyNdjson(request: AssembleRequest): Promise<Result<AssembledNdjson, AssembleError>> {
  return verifyWith(PART_FILES, request);
}

/** `verifyNdjson` on a given file system. */
export async function verifyWith(
  files: PartFiles,
  request: AssembleRequest,
): Promise<Result<AssembledNdjson, AssembleError>> {
  const form = formOf(request);
  try {
    const chains = request.tokens.map(readToken);
    const flaw = await findFlaw(files, form, chains);
    return flaw === undefined ? ok({ size: sizeOf(chains) }) : err(flaw);
  } catch (thrown) {
    const { kind, message } = writeFailure(thrown, form.path);
    return err({ kind, reason: message });
  }
}

function formOf(request: AssembleRequest): ResultForm {
  assert(
    typeof request === "object" && request !== null && Array.isArray(request.tokens),
    "an assembly needs a path, a run and the tokens of its shards",
  );
  assert(typeof request.path === "string" && request.path.length > 0, "path must be the path of a file or folder");
  return resultForm(request.path);
}

function sizeOf(chains: readonly (PartToken | undefined)[]): number {
  return chains.reduce((sum, token) => sum + (token?.total ?? 0), 0);
}

interface Assembly {
  readonly files: PartFiles;
  readonly form: ResultForm;
  readonly path: string;
  /** The folder of the run's parts. */
  readonly folder: string;
  readonly run: RunId;
  readonly chains: readonly (PartToken | undefined)[];
  readonly partSize: number;
}

/**
 * Write under a temporary name first, in the folder that is removed at the end, so that a crash leaves no file behind
 * for good.
 */
async function writeWhole(assembly: Assembly): Promise<void> {
  const { files, form, path, folder, chains, partSize } = assembly;
  await files.makeFolder(folder);
  const temporary = join(folder, `${randomUUID()}.tmp`);
  if (form.isFolder) await files.makeFolder(temporary);
  const parts = form.isFolder ? new FolderWriter(files, temporary, form, partSize) : undefined;
  const writer = parts ?? new FileWriter(await files.create(temporary), form);
  try {
    const out = new Output(writer);
    for (const token of chains) await copyChain(assembly, token, out);
    await out.end();
  } finally {
    await writer.close();
  }
  if (parts !== undefined) await replaceFolder(assembly, { temporary, partCount: parts.partCount });
  else await files.rename(temporary, path);
  await files.syncFolder(dirname(path));
}

/**
 * A folder with files in it cannot be replaced in one step, so older results are moved to the folder of the parts first.
 * After a crash in between, the parts are still there.
 *
 * A process may move away what another one has just put there. That one removes the parts only if the results are there
 * once the folder of the parts has its other name, when nothing can be moved into it any more.
 */
async function replaceFolder(
  assembly: Assembly,
  { temporary, partCount }: { readonly temporary: string; readonly partCount: number },
): Promise<void> {
  const { files, path, folder } = assembly;
  while (!(await isRenamed(files, temporary, path))) {
    // Equal results of another run may have parts of another size.
    const isSame = (await hasPart(assembly, partCount)) && !(await hasPart(assembly, partCount + 1));
    if (isSame && (await isAssembled(assembly))) return;
    if (folder === doomedFolder(assembly)) return;
    try {
      await files.rename(path, `${temporary}.old`);
    } catch (thrown) {
      // Another process has moved it.
      if (codeOf(thrown) !== "ENOENT") throw thrown;
    }
  }
  await files.syncFolder(path);
}

/** The parts of one shard. Each names the one before it, so they are found last to first. */
async function copyChain({ files, folder, run }: Assembly, last: PartToken | undefined, out: Output): Promise<void> {
  const chain: PartToken[] = [];
  for (let token = last; token !== undefined;) {
    chain.push(token);
    const { file, header } = await openCounted(files, folder, run, token);
    await file.close();
    token = header.previous;
  }
  let crc = 0;
  for (const token of chain.reverse()) {
    const { file, headerSize } = await openCounted(files, folder, run, token);
    try {
      crc = await out.copy(file, { start: headerSize, end: token.size, crc });
    } finally {
      await file.close();
    }
    if (token.crc !== undefined && token.crc !== crc) throw damagedPart(partFileName(token.part));
  }
}

/** Collects small parts into large writes. */
class Output {
  readonly #writer: ResultWriter;
  readonly #buffer = Buffer.allocUnsafe(COPY_SIZE);
  #filled = 0;

  constructor(writer: ResultWriter) {
    this.#writer = writer;
  }

  /** Copy bytes of a part. Returns the checksum `crc` extended by these bytes. */
  async copy(
    from: ReadFile,
    { start, end, crc }: { readonly start: number; readonly end: number; readonly crc: number },
  ): Promise<number> {
    let sum = crc;
    for (let position = start; position < end;) {
      if (this.#filled === COPY_SIZE) await this.#flush();
      const room = this.#buffer.subarray(this.#filled, Math.min(COPY_SIZE, this.#filled + end - position));
      const size = await from.read(room, position);
      if (size === 0) throw new SinkFailed("PartMissing", "a part became shorter while it was read");
      sum = crc32(room.subarray(0, size), sum);
      this.#filled += size;
      position += size;
    }
    return sum;
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#writer.end();
  }

  async #flush(): Promise<void> {
    // The writer may keep the bytes until it returns, not longer.
    if (this.#filled > 0) await this.#writer.write(this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }
}

/**
 * Rename the folder first: a crash during the removal must not leave half of the parts in a folder that is expected to
 * have all.
 */
async function removeParts(assembly: Assembly): Promise<void> {
  const { files, path, folder } = assembly;
  const doomed = doomedFolder(assembly);
  const isClear = await isMovedOrGone(files, folder, doomed);
  if (!(await isThere(assembly))) await writeFromDoomed(assembly, missingResults(path));
  await files.removeFolder(doomed);
  // A holder that lost its lease may have made the folder again.
  if (!isClear && (await isMovedOrGone(files, folder, doomed))) await files.removeFolder(doomed);
  await files.removeEmptyFolder(partsFolder(path));
}

/** Rename a folder that another process may be removing. Returns false if a folder with files in it has that name. */
async function isMovedOrGone(files: PartFiles, from: string, to: string): Promise<boolean> {
  try {
    return await isRenamed(files, from, to);
  } catch (thrown) {
    if (isGone(thrown)) return true;
    throw thrown;
  }
}

/** Where the folder of the parts is moved before it is removed. */
function doomedFolder({ path, run }: Assembly): string {
  return `${runFolder(path, run)}.assembled`;
}

/** Assemble parts that are about to be removed. Throws `otherwise` if they are gone and the results are not there. */
async function writeFromDoomed(assembly: Assembly, otherwise: unknown): Promise<void> {
  try {
    await writeWhole({ ...assembly, folder: doomedFolder(assembly) });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
    if (!(await isAssembled(assembly))) throw otherwise;
  }
}

/** Whether the results are there with exactly the bytes that the tokens describe. */
async function isAssembled({ files, form, chains }: Assembly): Promise<boolean> {
  // Without checksums only the size could be compared, which proves nothing.
  const canTell = chains.every((token) => token?.crc !== undefined || token === undefined);
  return canTell && (await findFlaw(files, form, chains)) === undefined;
}

/** Whether there are results. A file is replaced in one step, so it is always there. */
async function isThere(assembly: Assembly): Promise<boolean> {
  return !assembly.form.isFolder || (await hasPart(assembly, 1));
}

async function hasPart({ files, form, path }: Assembly, number: number): Promise<boolean> {
  try {
    const file = await files.open(partPath(path, number, form));
    await file.close();
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return false;
    throw thrown;
  }
}

/** Rename a folder. Returns false if a folder with files in it has that name. */
async function isRenamed(files: PartFiles, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "ENOTEMPTY" || codeOf(thrown) === "EEXIST") return false;
    throw thrown;
  }
}

function missingResults(path: string): SinkFailed {
  return new SinkFailed("ResultsMissing", `the results in ${path} are missing`);
}

function readToken(token: Uint8Array | undefined): PartToken | undefined {
  const read = decodeToken(token);
  if (read === null)
    throw new SinkFailed("TokenInvalid", "the cursor of a shard holds a token that this sink did not write");
  return read;
}

function isGone(thrown: unknown): boolean {
  if (thrown instanceof SinkFailed) return thrown.kind === "PartMissing" || thrown.kind === "PartDamaged";
  return codeOf(thrown) === "ENOENT";
}
