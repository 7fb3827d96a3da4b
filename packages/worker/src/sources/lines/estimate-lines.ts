import type { FileHandle } from "node:fs/promises";
import type { WorkEstimate, WorkSpan } from "../work-estimate.ts";
import { lineKey } from "./line-offsets.ts";
import { NEWLINE, readChunk } from "./read-lines.ts";

export interface EstimateLinesRequest {
  readonly handle: FileHandle;
  readonly prefix: Uint8Array;
  /** The size of the file. */
  readonly size: number;
  readonly signal: AbortSignal;
  /** The byte behind each line. Default: a newline. */
  readonly separator?: number;
  /** How much to read of each part of the file. A part that is not larger is counted exactly. */
  readonly sampleSize?: number;
}

const SAMPLE_SIZE = 64 * 1024;
/** First a rough estimate of the whole file, then finer ones. */
const PART_COUNTS = [32, 128, 512];
const SAMPLES_PER_STEP = 32;

/**
 * Estimate the number of lines in each part of a file by a sample of it.
 *
 * Bytes alone mislead where some lines are much longer than others. The samples come from the middle of equal parts, so
 * a file of any size costs the same. A small file is counted exactly.
 */
export async function* estimateLines(request: EstimateLinesRequest): AsyncGenerator<WorkEstimate> {
  const { handle, prefix, size, signal, separator = NEWLINE, sampleSize = SAMPLE_SIZE } = request;
  let spans: WorkSpan[] = [];
  for (const partCount of PART_COUNTS) {
    const finer: WorkSpan[] = [];
    for (let part = 0; part < partCount; part++) {
      signal.throwIfAborted();
      const [from, end] = [Math.floor((size * part) / partCount), Math.floor((size * (part + 1)) / partCount)];
      if (end > from)
        finer.push({
          start: lineKey(prefix, from),
          end: lineKey(prefix, end),
          items: await linesBetween({ handle, from, end, size, separator, sampleSize }),
        });
      if (spans.length > 0 && (part + 1) % SAMPLES_PER_STEP === 0) yield { spans };
    }
    spans = finer;
    yield { spans };
    if (size <= partCount * sampleSize) return;
  }
}

interface Part {
  readonly handle: FileHandle;
  readonly from: number;
  readonly end: number;
  readonly size: number;
  readonly separator: number;
  readonly sampleSize: number;
}

async function linesBetween({ handle, from, end, size, separator, sampleSize }: Part): Promise<number> {
  const length = Math.min(end - from, sampleSize);
  const bytes = await readChunk(handle, from + Math.floor((end - from - length) / 2), length);
  if (bytes.length === 0) return 0;
  // The last line does not need a newline.
  const isUnended = end === size && length === end - from && bytes.at(-1) !== separator;
  return ((countBytes(bytes, separator) + (isUnended ? 1 : 0)) * (end - from)) / bytes.length;
}

/** A loop, because a native search per line is slower where lines are short. */
function countBytes(bytes: Uint8Array, byte: number): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index++) if (bytes[index] === byte) count++;
  return count;
}
