import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { U64_MAX, type ShardSpec } from "@gossip/contracts";
import { decodeManifestRowKey, ManifestId, ManifestRow, manifestShard } from "@gossip/frontier";
import { assert, assertCount, err, ok, unwrap, type Result } from "@gossip/stdx";
import type { SourceError } from "../source-error.ts";
import type { ItemBatch, PlanRequest, ReadRequest, Source, SplitRequest } from "../source.ts";
import type { EstimateRequest, WorkEstimate } from "../work-estimate.ts";
import { assertPlanRequest } from "../range-shards.ts";
import { readBounds } from "../read-bounds.ts";
import { SourceReadFailed } from "../source-read-failed.ts";
import { estimateLines } from "./estimate-lines.ts";
import { fileError, noFile } from "./lines-failure.ts";
import type { LineItem } from "./line-item.ts";
import { lineKey, manifestPrefix, offsetAtOrAbove } from "./line-offsets.ts";
import { NEWLINE, NUL, readChunk, readLines, type LineForm } from "./read-lines.ts";

export interface LinesOptions {
  /** The file. */
  readonly path: string;
  /** Which of several manifests of a run this is. Default: 0. */
  readonly manifestId?: bigint;
  /** The longest line, in bytes without its line ending. A longer line is reported and skipped. Default: 1 MiB. */
  readonly maxLineSize?: number;
  /** What ends a line: LF or CRLF (the default), or a zero byte, as `find -print0` writes it. */
  readonly separator?: "newline" | "nul";
  /** Whether empty lines are left out. Default: they are items too. */
  readonly skipsEmpty?: boolean;
}

const DEFAULT_MAX_LINE_SIZE = 1024 * 1024;
const LARGEST_MAX_LINE_SIZE = 512 * 1024 * 1024;
/** How far a split point is moved to reach the start of a line. */
const ALIGN_SIZE = 64 * 1024;

/**
 * The lines of a text file.
 *
 * A line's key is the offset of its first byte, so that reading can start at any line, and a line belongs to the range
 * that contains its first byte. It ends with LF or CRLF, or with a zero byte, which are not part of it. The last line
 * does not need one. Lines can be in any order, and can be repeated.
 *
 * The file must not change during a run. Lines added after the run was planned are not part of it. A file that became
 * shorter is an error.
 */
export function linesSource(options: LinesOptions): Source<LineItem> {
  return new LinesSource(options);
}

interface OpenedFile {
  readonly handle: FileHandle;
  /** Its size when it was opened. */
  readonly size: number;
}

class LinesSource implements Source<LineItem> {
  readonly name = "lines";
  readonly #path: string;
  readonly #manifestId: ManifestId;
  readonly #prefix: Uint8Array;
  readonly #maxLineSize: number;
  readonly #form: LineForm;

  constructor(options: LinesOptions) {
    assert(
      typeof options === "object" && options !== null,
      () => `lines options must be an object, got ${typeof options}`,
    );
    const { path, manifestId = 0n, maxLineSize = DEFAULT_MAX_LINE_SIZE } = options;
    const { separator = "newline", skipsEmpty = false } = options;
    assert(typeof path === "string" && path.length > 0, "path must be the path of a file");
    assert(
      typeof manifestId === "bigint" && manifestId >= 0n && manifestId <= U64_MAX,
      "manifestId must be a bigint from 0 to 2^64 - 1",
    );
    assertCount(maxLineSize, "maxLineSize", { min: 1, max: LARGEST_MAX_LINE_SIZE });
    this.#path = path;
    this.#manifestId = ManifestId.fromRaw(manifestId);
    this.#prefix = manifestPrefix(manifestId);
    this.#maxLineSize = maxLineSize;
    assert(separator === "newline" || separator === "nul", "separator must be newline or nul");
    assert(typeof skipsEmpty === "boolean", "skipsEmpty must be true or false");
    this.#form = { separator: separator === "nul" ? NUL : NEWLINE, skipsEmpty };
  }

  async plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    assertPlanRequest(request);
    try {
      return ok(this.#cut(await this.#withFile(({ size }) => size), request.shardCount));
    } catch (thrown) {
      return err(thrown instanceof SourceReadFailed ? thrown.error : fileError(this.#path, thrown));
    }
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch<LineItem>> {
    const bounds = readBounds(request);
    if (bounds === undefined) return;
    const from = this.#offsetOf(bounds.from);
    const end = bounds.end.length === 0 ? Infinity : this.#offsetOf(bounds.end);
    if (from >= end) return;
    const { handle, size } = await this.#open();
    try {
      this.#checkLength(size, end);
      const { signal } = request;
      const form = this.#form;
      yield* readLines({ handle, prefix: this.#prefix, from, end, maxLineSize: this.#maxLineSize, signal, form });
      // Check again: a reading of a file that was truncated meanwhile takes the cut for the end.
      this.#checkLength(await sizeOf(handle), end);
    } finally {
      await handle.close();
    }
  }

  async splitPoint(request: SplitRequest): Promise<Uint8Array | undefined> {
    const bounds = readBounds(request);
    if (bounds === undefined) return undefined;
    const from = this.#offsetOf(bounds.from);
    const givenEnd = bounds.end.length === 0 ? Infinity : this.#offsetOf(bounds.end);
    return this.#withFile(async ({ handle, size }) => {
      const end = Math.min(givenEnd, size);
      const middle = Math.floor(from + (end - from) / 2);
      if (middle <= from) return undefined;
      const { separator } = this.#form;
      const point = await lineStartAt(handle, middle, separator);
      // A part without a line is not a half.
      if (point >= end || (await lineStartAt(handle, from, separator)) >= point) return undefined;
      return lineKey(this.#prefix, point);
    });
  }

  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    const { handle, size } = await this.#open();
    try {
      const { separator } = this.#form;
      yield* estimateLines({ handle, prefix: this.#prefix, size, signal, separator });
    } finally {
      await handle.close();
    }
  }

  describeKey(key: Uint8Array): string {
    const row = decodeManifestRowKey(key);
    return row === undefined ? Buffer.from(key).toString("hex") : `byte ${row.row}`;
  }

  /** Equal shares of the file's bytes. If a shard starts inside a line, that line belongs to the shard before. */
  #cut(size: number, shardCount: number): readonly ShardSpec[] {
    // An empty file has no lines, but a run has at least one shard.
    const rows = BigInt(Math.max(size, 1));
    const count = rows < BigInt(shardCount) ? rows : BigInt(shardCount);
    return Array.from({ length: Number(count) }, (_, index) => {
      const startRow = ManifestRow.fromRaw((rows * BigInt(index)) / count);
      const endRow = ManifestRow.fromRaw((rows * BigInt(index + 1)) / count);
      return unwrap(manifestShard({ manifestId: this.#manifestId, startRow, endRow }));
    });
  }

  #offsetOf(bound: Uint8Array): number {
    return offsetAtOrAbove(this.#prefix, bound);
  }

  /** Lines that existed when the run was planned must not be lost silently. */
  #checkLength(size: number, end: number): void {
    if (end === Infinity || end <= Math.max(size, 1)) return;
    throw new SourceReadFailed({
      kind: "SourceInvalid",
      reason: `${this.#path} is shorter than it was when the run was planned`,
    });
  }

  async #open(): Promise<OpenedFile> {
    let handle: FileHandle;
    try {
      // Opening a pipe would block until a writer opens it.
      handle = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (thrown) {
      throw new SourceReadFailed(fileError(this.#path, thrown), { cause: thrown });
    }
    const stats = await handle.stat();
    if (stats.isFile()) return { handle, size: stats.size };
    await handle.close();
    throw new SourceReadFailed(noFile(this.#path));
  }

  async #withFile<T>(use: (file: OpenedFile) => T | Promise<T>): Promise<T> {
    const file = await this.#open();
    try {
      return await use(file);
    } finally {
      await file.handle.close();
    }
  }
}

/**
 * The start of the first line at or after `offset` if it is near, otherwise `offset`. `Infinity` if the file ends
 * first.
 */
async function lineStartAt(handle: FileHandle, offset: number, separator: number): Promise<number> {
  if (offset === 0) return 0;
  const bytes = await readChunk(handle, offset - 1, ALIGN_SIZE);
  const found = bytes.indexOf(separator);
  if (found !== -1) return offset + found;
  return bytes.length < ALIGN_SIZE ? Infinity : offset;
}

async function sizeOf(handle: FileHandle): Promise<number> {
  return (await handle.stat()).size;
}
