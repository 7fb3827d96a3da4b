import type { FileHandle } from "node:fs/promises";
import type { ItemBatch, ItemProblem } from "../source.ts";
import { LineItem, type LineChunk } from "./line-item.ts";
import { lineKey } from "./line-offsets.ts";

export interface LinesRequest {
  readonly handle: FileHandle;
  readonly prefix: Uint8Array;
  /** Lines whose first byte is at or after `from` and before `end`. */
  readonly from: number;
  readonly end: number;
  readonly maxLineSize: number;
  readonly signal: AbortSignal;
  readonly form: LineForm;
}

/** How lines end, and which of them are items. */
export interface LineForm {
  /** The byte behind each line. A CR before an LF belongs to the line ending. */
  readonly separator: number;
  readonly skipsEmpty: boolean;
}

/** Larger chunks are not faster. Smaller ones are slower. */
const CHUNK_SIZE = 256 * 1024;
/** Most lines are shorter. A longer one at the end of a range is read again. */
const LAST_LINE_SIZE = 4096;
/** Bounds the batch for chunks with very many empty lines. */
const ITEMS_PER_BATCH = 4096;
export const NEWLINE = 0x0a;
export const NUL = 0x00;
const RETURN = 0x0d;
/** The longest line ending: CRLF. */
const ENDING_SIZE = 2;

/** The lines of a part of a file. Uses the memory of one chunk, or of the longest line allowed. */
export async function* readLines(request: LinesRequest): AsyncGenerator<ItemBatch<LineItem>> {
  const { handle, prefix, from, end, maxLineSize, signal, form } = request;
  // The line at `from` belongs to the range if the byte before it ends another line.
  let position = Math.max(0, from - 1);
  /** Whether the bytes up to the next separator belong to a line that is not read. */
  let isInLine = from > 0;
  let size = chunkSize(position, end);
  while (position < end) {
    signal.throwIfAborted();
    const bytes = await readChunk(handle, position, size);
    if (bytes.length === 0) return;
    const isLast = bytes.length < size;
    const chunk: LineChunk = { bytes, offset: position, prefix };
    let used = isInLine ? behindLine(bytes, form.separator) : 0;
    isInLine = isInLine && used === 0;
    while (!isInLine) {
      const cut = cutLines(chunk, { start: used, end, isLast, maxLineSize, form });
      used = cut.next;
      if (cut.items.length > 0 || cut.problems.length > 0) yield cut;
      if (!cut.hasMore) break;
      signal.throwIfAborted();
    }
    if (isLast) return;
    if (used > 0) {
      position += used;
      size = chunkSize(position, end);
    } else if (isInLine) {
      position += bytes.length;
      size = CHUNK_SIZE;
    } else if (size <= maxLineSize + ENDING_SIZE) {
      // One line fills the chunk: retry with a larger one.
      size = Math.min(Math.max(size * 4, CHUNK_SIZE), maxLineSize + ENDING_SIZE + 1);
    } else {
      yield { items: [], problems: [tooLong(prefix, position, maxLineSize)] };
      position += bytes.length;
      isInLine = true;
      size = CHUNK_SIZE;
    }
  }
}

/** The rest of a range that is not larger than a chunk is read at once, with some bytes for its last line. */
function chunkSize(position: number, end: number): number {
  return Math.min(CHUNK_SIZE, end - position + LAST_LINE_SIZE);
}

/** The offset behind the first separator. 0 if there is none. */
function behindLine(bytes: Buffer, separator: number): number {
  return bytes.indexOf(separator) + 1;
}

interface Cut extends ItemBatch<LineItem> {
  readonly problems: readonly ItemProblem[];
  /** The offset in the chunk of the first line that is not among the items. */
  readonly next: number;
  /** Whether the chunk has more lines. */
  readonly hasMore: boolean;
}

interface CutRequest {
  readonly start: number;
  readonly end: number;
  readonly isLast: boolean;
  readonly maxLineSize: number;
  readonly form: LineForm;
}

function cutLines(chunk: LineChunk, { start, end, isLast, maxLineSize, form }: CutRequest): Cut {
  const { bytes, offset, prefix } = chunk;
  const { separator, skipsEmpty } = form;
  const items: LineItem[] = [];
  const problems: ItemProblem[] = [];
  const endInChunk = Math.min(end - offset, bytes.length);
  let next = start;
  while (next < endInChunk) {
    if (items.length >= ITEMS_PER_BATCH) return { items, problems, next, hasMore: true };
    // The native search is twice as fast as a loop for lines of fifty bytes, and more for longer ones.
    let lineEnd = bytes.indexOf(separator, next);
    let behind = lineEnd + 1;
    if (lineEnd === -1) {
      if (!isLast) break;
      lineEnd = behind = bytes.length;
    }
    if (separator === NEWLINE && lineEnd > next && bytes[lineEnd - 1] === RETURN) lineEnd--;
    if (lineEnd - next > maxLineSize) problems.push(tooLong(prefix, offset + next, maxLineSize));
    else if (lineEnd > next || !skipsEmpty) items.push(new LineItem(chunk, next, lineEnd));
    next = behind;
  }
  return { items, problems, next, hasMore: false };
}

/** Reads `size` bytes, fewer only at the end of the file. */
export async function readChunk(handle: FileHandle, position: number, size: number): Promise<Buffer> {
  // Not from the pool, because lines keep referring to it.
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(bytes, filled, size - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function tooLong(prefix: Uint8Array, offset: number, maxLineSize: number): ItemProblem {
  return { key: lineKey(prefix, offset), reason: `a line has more than ${maxLineSize} bytes` };
}
