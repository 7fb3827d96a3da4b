import { basename } from "node:path";
import { createGunzip, type Gunzip } from "node:zlib";
import { codeOf } from "../../sources/system-words.ts";
import type { PartFiles, ReadFile } from "./part-files.ts";
import { partPath, type ResultForm } from "./result-form.ts";

const CHUNK_SIZE = 256 * 1024;

/** Reads the results of a finished run from the first byte to the last, whatever their form. */
export class ResultReader {
  readonly #files: PartFiles;
  readonly #form: ResultForm;
  #part: PartReader | undefined;
  #partCount = 0;
  /** The part that the last bytes came from, or that failed. */
  #lastRead = 1;
  #isOver = false;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(files: PartFiles, form: ResultForm) {
    this.#files = files;
    this.#form = form;
  }

  /** Rejects with `ENOENT` if there are no results. */
  static async open(files: PartFiles, form: ResultForm): Promise<ResultReader> {
    const reader = new ResultReader(files, form);
    if (!(await reader.#openNext())) throw Object.assign(new Error("there are no results"), { code: "ENOENT" });
    return reader;
  }

  /**
   * The name of the part that the last bytes came from, or could not be read from. `undefined` if the results are one
   * file.
   */
  get partName(): string | undefined {
    return this.#form.isFolder ? basename(partPath(this.#form.path, this.#lastRead, this.#form)) : undefined;
  }

  /** Returns between 1 and `size` bytes, or none at the end. Throws if compressed bytes are damaged. */
  async read(size: number): Promise<Buffer> {
    while (this.#rest.length === 0 && !this.#isOver) {
      this.#lastRead = this.#partCount;
      this.#rest = await this.#part!.next();
      if (this.#rest.length > 0) break;
      await this.close();
      this.#isOver = !(await this.#openNext());
    }
    const bytes = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(bytes.length);
    return bytes;
  }

  async close(): Promise<void> {
    const part = this.#part;
    this.#part = undefined;
    await part?.close();
  }

  async #openNext(): Promise<boolean> {
    const { path, isFolder, isCompressed } = this.#form;
    if (!isFolder && this.#partCount > 0) return false;
    this.#partCount++;
    try {
      const file = await this.#files.open(isFolder ? partPath(path, this.#partCount, this.#form) : path);
      this.#part = new PartReader(file, isCompressed);
      return true;
    } catch (thrown) {
      if (codeOf(thrown) === "ENOENT") return false;
      throw thrown;
    }
  }
}

class PartReader {
  readonly #file: ReadFile;
  readonly #gunzip: Gunzip | undefined;
  #ready: Buffer[] = [];
  #failure: Error | undefined;
  #position = 0;
  #isEnded = false;

  constructor(file: ReadFile, isCompressed: boolean) {
    this.#file = file;
    if (!isCompressed) return;
    this.#gunzip = createGunzip();
    this.#gunzip.on("data", (chunk: Buffer) => this.#ready.push(chunk));
    this.#gunzip.on("error", (error) => (this.#failure = error));
  }

  /** Returns no bytes at the end. */
  async next(): Promise<Buffer> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const ready = this.#ready.shift();
      if (ready !== undefined) return ready;
      if (this.#isEnded) return Buffer.alloc(0);
      const chunk = Buffer.allocUnsafe(CHUNK_SIZE);
      const size = await this.#file.read(chunk, this.#position);
      this.#position += size;
      this.#isEnded = size === 0;
      if (this.#gunzip === undefined) return chunk.subarray(0, size);
      await this.#feed(this.#gunzip, chunk.subarray(0, size));
    }
  }

  async close(): Promise<void> {
    this.#gunzip?.destroy();
    await this.#file.close();
  }

  #feed(gunzip: Gunzip, bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      // A failure is reported by the listener, and closes the stream.
      if (gunzip.destroyed) return resolve();
      gunzip.once("close", resolve);
      if (bytes.length === 0) return void gunzip.end();
      gunzip.write(bytes, () => {
        gunzip.off("close", resolve);
        resolve();
      });
    });
  }
}
