import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "@gossip/stdx";
import type { Item } from "../../sources/source.ts";
import type { ShardSink, SinkRequest, SkippedItem } from "../sink.ts";
import { SinkFailed } from "../sink-failed.ts";
import { codeOf } from "../../sources/system-words.ts";
import type { PartFiles, WrittenFile } from "./part-files.ts";
import { writeFailure } from "./part-folder.ts";
import { headerLine, partFileName } from "./part-header.ts";
import { encodeToken, type PartName, type PartToken } from "./part-token.ts";

export interface PartFolder {
  readonly files: PartFiles;
  /** The folder of the run. */
  readonly folder: string;
  /** Creates that folder unless it was created before. */
  readonly makeFolder: () => Promise<void>;
}

/** Turns a result into the value to write. `undefined` writes nothing. */
export type ToRecord<I extends Item, R> = (item: I, result: R) => unknown;

/** Turns a skipped item into the value to write. `undefined` writes nothing. */
export type ToSkippedRecord<I extends Item> = (skipped: SkippedItem<I>) => unknown;

/** What is written for items. */
export interface RecordForm<I extends Item, R> {
  readonly toRecord: ToRecord<I, R>;
  readonly toSkippedRecord: ToSkippedRecord<I> | undefined;
  /** The largest line, in UTF-16 code units. */
  readonly maxRecordSize: number;
}

/** Lines are joined into buffers of about this many UTF-16 code units, because a string has a greatest length. */
const MAX_JOINED_SIZE = 2 ** 24;

/** The part file of this lease. */
interface OwnPart {
  readonly name: PartName;
  readonly file: WrittenFile;
  /** The first line, written together with the first results. */
  readonly header: Buffer;
}

/** Far more often than a lease is opened. A folder that refuses this many new names is broken. */
const MAX_ATTEMPTS = 10_000;

/**
 * The results of one lease, in a file that only this object writes.
 *
 * Results are kept in memory as lines until a flush writes them, at a fixed offset, so that a flush that failed halfway
 * is repeated over what it left. The first flush with results creates the file. A flush covers results written before
 * it was called, not those written while it is in progress.
 */
export class NdjsonShardSink<I extends Item, R> implements ShardSink<I, R> {
  readonly #target: PartFolder;
  readonly #request: SinkRequest;
  readonly #form: RecordForm<I, R>;
  readonly #previous: PartToken | undefined;
  #lines: string[] = [];
  /** The length of the lines together. */
  #linesSize = 0;
  /** Flushes that are not on disk yet, oldest first. */
  #sealed: Buffer[] = [];
  /** The total size passed to flushes so far, in bytes. */
  #sealedSize = 0;
  /** How much of that is on disk. */
  #durableSize = 0;
  /** The checksum of the shard's results up to there, including those of earlier leases. */
  #durableCrc: number | undefined;
  #part: OwnPart | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #broken: SinkFailed | undefined;
  #isClosed = false;

  constructor(target: PartFolder, request: SinkRequest, previous: PartToken | undefined, form: RecordForm<I, R>) {
    this.#target = target;
    this.#request = request;
    this.#previous = previous;
    this.#durableCrc = previous === undefined ? 0 : previous.crc;
    this.#form = form;
  }

  write(item: I, result: R): void {
    assert(!this.#isClosed, "a sink that was closed cannot be written to");
    this.#add(() => this.#form.toRecord(item, result));
  }

  skip(skipped: SkippedItem<I>): void {
    assert(!this.#isClosed, "a sink that was closed cannot be written to");
    const { toSkippedRecord } = this.#form;
    if (toSkippedRecord !== undefined) this.#add(() => toSkippedRecord(skipped));
  }

  #add(makeRecord: () => unknown): void {
    let text: string | undefined;
    try {
      text = JSON.stringify(makeRecord());
    } catch (thrown) {
      throw new SinkFailed("NotJson", `a result cannot be written as JSON: ${reasonOf(thrown)}`, { cause: thrown });
    }
    if (text === undefined) return;
    const { maxRecordSize } = this.#form;
    if (text.length > maxRecordSize)
      throw new SinkFailed(
        "ResultTooLarge",
        `a result of ${text.length} characters is over the limit of ${maxRecordSize}`,
      );
    this.#lines.push(text, "\n");
    this.#linesSize += text.length;
    if (this.#linesSize >= MAX_JOINED_SIZE) this.#seal();
  }

  #seal(): void {
    if (this.#lines.length === 0) return;
    const sealed = Buffer.from(this.#lines.join(""), "utf8");
    this.#lines = [];
    this.#linesSize = 0;
    this.#sealed.push(sealed);
    this.#sealedSize += sealed.length;
  }

  flush(): Promise<Uint8Array> {
    assert(!this.#isClosed, "a sink that was closed cannot be flushed");
    // Take the lines now, not when the disk is ready: later lines belong to a later token.
    this.#seal();
    const target = this.#sealedSize;
    const flushed = this.#queue.then(() => this.#flushTo(target));
    this.#queue = flushed.catch(ignore);
    return flushed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lines = [];
    await this.#queue;
    await this.#part?.file.close();
    this.#part = undefined;
  }

  async #flushTo(target: number): Promise<Uint8Array> {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#durableSize < target) {
      try {
        await this.#writeTo(target);
      } catch (thrown) {
        throw writeFailure(thrown, "the results");
      }
    }
    return encodeToken(this.#tokenNow());
  }

  async #writeTo(target: number): Promise<void> {
    const { file, header } = (this.#part ??= await this.#createPart());
    let size = this.#durableSize;
    let crc = this.#durableCrc;
    let written = 0;
    if (size === 0) await file.write(header, 0);
    for (const bytes of this.#sealed) {
      if (size >= target) break;
      await file.write(bytes, header.length + size);
      size += bytes.length;
      if (crc !== undefined) crc = crc32(bytes, crc);
      written++;
    }
    try {
      await file.sync();
      // Sync the name too, once.
      if (this.#durableSize === 0) await this.#target.files.syncFolder(this.#target.folder);
    } catch (thrown) {
      // The kernel may have dropped the pages that it could not write, and a second sync could then succeed wrongly.
      this.#broken = writeFailure(thrown, "the results");
      throw this.#broken;
    }
    this.#sealed.splice(0, written);
    this.#durableSize = size;
    this.#durableCrc = crc;
  }

  async #createPart(): Promise<OwnPart> {
    const { files, folder, makeFolder } = this.#target;
    const { shard, fence } = this.#request;
    await makeFolder();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const name = { shard: shard.shard, fence, attempt };
      const file = await createNew(files, join(folder, partFileName(name)));
      // An existing file is from an earlier open under this lease. Its bytes may count, so it is left unchanged.
      if (file !== undefined)
        return {
          name,
          file,
          header: Buffer.from(headerLine({ run: shard.run, part: name, previous: this.#previous })),
        };
    }
    throw new SinkFailed("Unwritable", "no new part can be created for a shard: it has too many");
  }

  #tokenNow(): PartToken | undefined {
    const part = this.#part;
    if (part === undefined) return this.#previous;
    return {
      part: part.name,
      size: part.header.length + this.#durableSize,
      total: (this.#previous?.total ?? 0) + this.#durableSize,
      crc: this.#durableCrc,
    };
  }
}

async function createNew(files: PartFiles, path: string): Promise<WrittenFile | undefined> {
  try {
    return await files.create(path);
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return undefined;
    throw thrown;
  }
}

/** The first line of a message. It names the kind of value, such as `BigInt` or a circular structure. */
function reasonOf(thrown: unknown): string {
  const [line = ""] = (thrown instanceof Error ? thrown.message : String(thrown)).split("\n");
  return line;
}

function ignore(): void {
  // The caller of flush has already received the error.
}
