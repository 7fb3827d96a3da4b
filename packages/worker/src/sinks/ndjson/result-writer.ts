import { createGzip, type Gzip } from "node:zlib";
import type { PartFiles, WrittenFile } from "./part-files.ts";
import { partPath, type ResultForm } from "./result-form.ts";

/** Takes the bytes of all results, in order. */
export interface ResultWriter {
  write(bytes: Buffer): Promise<void>;
  /** Everything is on disk when this resolves. */
  end(): Promise<void>;
  /** Close what is open, after `end` or after a failure. */
  close(): Promise<void>;
}

const NEWLINE = 0x0a;

/** One file, compressed if its form says so. Compression is deterministic: the same results give the same bytes. */
export class FileWriter implements ResultWriter {
  readonly #file: WrittenFile;
  readonly #gzip: Gzip | undefined;
  #compressed: Buffer[] = [];
  #position = 0;

  constructor(file: WrittenFile, { isCompressed }: Pick<ResultForm, "isCompressed">) {
    this.#file = file;
    if (!isCompressed) return;
    this.#gzip = createGzip();
    this.#gzip.on("data", (chunk: Buffer) => this.#compressed.push(chunk));
  }

  async write(bytes: Buffer): Promise<void> {
    const gzip = this.#gzip;
    if (gzip === undefined) return this.#append(bytes);
    await new Promise<void>((resolve, reject) => {
      gzip.write(bytes, (error) => (error === undefined || error === null ? resolve() : reject(error)));
    });
    await this.#drain();
  }

  async end(): Promise<void> {
    const gzip = this.#gzip;
    if (gzip !== undefined) {
      await new Promise<void>((resolve, reject) => {
        gzip.once("end", resolve).once("error", reject).end();
      });
      await this.#drain();
    }
    await this.#file.sync();
  }

  async close(): Promise<void> {
    this.#gzip?.destroy();
    await this.#file.close();
  }

  async #drain(): Promise<void> {
    for (const chunk of this.#compressed.splice(0)) await this.#append(chunk);
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.#file.write(bytes, this.#position);
    this.#position += bytes.length;
  }
}

/**
 * A folder of parts. A part ends with a line, and has at most `partSize` bytes before compression, unless one line is
 * longer.
 */
export class FolderWriter implements ResultWriter {
  readonly #files: PartFiles;
  readonly #folder: string;
  readonly #form: ResultForm;
  readonly #partSize: number;
  #part: FileWriter | undefined;
  #partCount = 0;
  #filled = 0;
  /** The beginning of a line whose end has not arrived. */
  #tail: Buffer = Buffer.alloc(0);

  constructor(files: PartFiles, folder: string, form: ResultForm, partSize: number) {
    this.#files = files;
    this.#folder = folder;
    this.#form = form;
    this.#partSize = partSize;
  }

  /** The parts that were begun. */
  get partCount(): number {
    return this.#partCount;
  }

  async write(bytes: Buffer): Promise<void> {
    const all = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes]);
    const end = all.lastIndexOf(NEWLINE) + 1;
    // A copy: the caller uses its buffer again.
    this.#tail = Buffer.from(all.subarray(end));
    for (let rest = all.subarray(0, end); rest.length > 0;) {
      const size = this.#sizeForPart(rest);
      if (size > 0) await this.#append(rest.subarray(0, size));
      else await this.#endPart();
      rest = rest.subarray(size);
    }
  }

  async end(): Promise<void> {
    if (this.#tail.length > 0) await this.#append(this.#tail);
    // A run without results has one part without lines.
    if (this.#partCount === 0) this.#part = await this.#startPart();
    await this.#endPart();
    await this.#files.syncFolder(this.#folder);
  }

  async close(): Promise<void> {
    await this.#part?.close();
  }

  /** How many bytes of these lines belong to the current part. 0 if it is full. */
  #sizeForPart(lines: Buffer): number {
    const room = this.#partSize - this.#filled;
    if (lines.length <= room) return lines.length;
    const fitting = room > 0 ? lines.lastIndexOf(NEWLINE, room - 1) + 1 : 0;
    // A line that is longer than a part has a part of its own.
    return fitting > 0 || this.#filled > 0 ? fitting : lines.indexOf(NEWLINE) + 1;
  }

  async #append(lines: Buffer): Promise<void> {
    this.#part ??= await this.#startPart();
    await this.#part.write(lines);
    this.#filled += lines.length;
  }

  async #startPart(): Promise<FileWriter> {
    const file = await this.#files.create(partPath(this.#folder, ++this.#partCount, this.#form));
    return new FileWriter(file, this.#form);
  }

  async #endPart(): Promise<void> {
    const part = this.#part;
    this.#filled = 0;
    await part?.end();
    this.#part = undefined;
    await part?.close();
  }
}
