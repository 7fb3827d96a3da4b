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
/** Bounds the batch for chunks with very many empty lines. */
const ITEMS_PER_BATCH = 4096;
export const NEWLINE = 0x0a;
export const NUL = 0x00;
const RETURN = 0x0d;
/** The longest line ending: CRLF. */
const ENDING_SIZE = 2;

/** The lines of a part of a file. Uses the memory of one chunk, or of the longest line allowed. */
export async function* readLines(request: LinesRequest): AsyncGenerator<ItemBatch<LineItem>> {
  const { handle, prefix, end, maxLineSize, signal, form } = request;
  let position = await firstLineAt(request);
  let size = CHUNK_SIZE;
  while (position < end) {
    signal.throwIfAborted();
    const bytes = await readChunk(handle, position, size);
    if (bytes.length === 0) return;
    const isLast = bytes.length < size;
    const chunk: LineChunk = { bytes, offset: position, prefix };
    let used = 0;
    for (;;) {
      const cut = cutLines(chunk, { start: used, end, isLast, maxLineSize, form });
      used = cut.next;
      if (cut.items.length > 0 || cut.problems.length > 0) yield cut;
      if (!cut.hasMore) break;
      signal.throwIfAborted();
    }
    position += used;
    if (isLast) return;
    if (used > 0) {
      size = CHUNK_SIZE;
    } else if (size <= maxLineSize + ENDING_SIZE) {
      // One line fills the chunk: retry with a larger one.
      size = Math.min(size * 4, maxLineSize + ENDING_SIZE + 1);
    } else {
      yield { items: [], problems: [tooLong(prefix, position, maxLineSize)] };
      position = await nextLineAfter(request, position + size);
      size = CHUNK_SIZE;
    }
  }
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

/** The first line that starts at or after `from`. It is `from` itself if a line ends right before it. */
async function firstLineAt(request: LinesRequest): Promise<number> {
  return request.from === 0 ? 0 : nextLineAfter(request, request.from - 1);
}

/** The start of the line after the first separator at or after `position`. `Infinity` if there is none before the end. */
async function nextLineAfter({ handle, end, signal, form }: LinesRequest, position: number): Promise<number> {
  for (let offset = position; offset < end;) {
    signal.throwIfAborted();
    const bytes = await readChunk(handle, offset, CHUNK_SIZE);
    const found = bytes.indexOf(form.separator);
    if (found !== -1) return offset + found + 1;
    if (bytes.length < CHUNK_SIZE) return Infinity;
    offset += bytes.length;
  }
  return Infinity;
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
