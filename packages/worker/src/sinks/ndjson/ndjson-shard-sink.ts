import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "@gossip/stdx";
import type { Item } from "../../source/source.ts";
import type { ShardSink, SinkRequest } from "../sink.ts";
import { SinkFailed } from "../sink-failed.ts";
import { codeOf } from "../../sources/system-words.ts";
import type { PartFiles, WrittenFile } from "./part-files.ts";
import { writeFailure } from "./part-folder.ts";
import { headerLine, partFileName } from "./part-header.ts";
import { encodeToken, type PartName, type PartToken } from "./part-token.ts";

export interface PartPlace {
  readonly files: PartFiles;
  /** The folder of the run. */
  readonly folder: string;
  /** Makes that folder, if it was not made yet. */
  readonly makeFolder: () => Promise<void>;
}

/** Turns a result into what is written of it; `undefined` writes nothing. */
export type ToRecord<I extends Item, R> = (item: I, result: R) => unknown;

/** The file of this lease. */
interface OwnPart {
  readonly name: PartName;
  readonly file: WrittenFile;
  /** Its first line, which is written with the first results. */
  readonly header: Buffer;
}

/** Far more than a lease is opened; a folder that refuses as many new names is broken. */
const MAX_ATTEMPTS = 10_000;

/**
 * The results of one lease, in a file that only this object ever writes.
 *
 * What was written is gathered in memory, as lines, until a flush puts it on the disk: at its place, so that a
 * flush which failed half-way is done again over what it left. The file is made by the first flush that has something
 * to write. A flush answers for what was written before it was called, not for what came while it waited.
 */
export class NdjsonShardSink<I extends Item, R> implements ShardSink<I, R> {
  readonly #place: PartPlace;
  readonly #request: SinkRequest;
  readonly #toRecord: ToRecord<I, R>;
  readonly #previous: PartToken | undefined;
  #lines: string[] = [];
  /** Flushes that are not on the disk yet, oldest first. */
  #sealed: Buffer[] = [];
  /** What the flushes were given so far, in bytes. */
  #sealedSize = 0;
  /** How much of that is on the disk. */
  #durableSize = 0;
  /** Checksum of the shard's results up to there, those of earlier leases included. */
  #durableCrc: number | undefined;
  #part: OwnPart | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #broken: SinkFailed | undefined;
  #isClosed = false;

  constructor(place: PartPlace, request: SinkRequest, previous: PartToken | undefined, toRecord: ToRecord<I, R>) {
    this.#place = place;
    this.#request = request;
    this.#previous = previous;
    this.#durableCrc = previous === undefined ? 0 : previous.crc;
    this.#toRecord = toRecord;
  }

  write(item: I, result: R): void {
    assert(!this.#isClosed, "a sink that was closed cannot be written to");
    let text: string | undefined;
    try {
      text = JSON.stringify(this.#toRecord(item, result));
    } catch (thrown) {
      throw new SinkFailed("NotJson", "a result cannot be written as JSON", { cause: thrown });
    }
    if (text !== undefined) this.#lines.push(text, "\n");
  }

  flush(): Promise<Uint8Array> {
    assert(!this.#isClosed, "a sink that was closed cannot be flushed");
    // Now, not when the disk has time: what is written from here on belongs to a later token.
    if (this.#lines.length > 0) {
      const sealed = Buffer.from(this.#lines.join(""), "utf8");
      this.#lines = [];
      this.#sealed.push(sealed);
      this.#sealedSize += sealed.length;
    }
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
      // The name too, once.
      if (this.#durableSize === 0) await this.#place.files.syncFolder(this.#place.folder);
    } catch (thrown) {
      // The system may have forgotten what it could not write: to ask again could be answered with yes.
      this.#broken = writeFailure(thrown, "the results");
      throw this.#broken;
    }
    this.#sealed.splice(0, written);
    this.#durableSize = size;
    this.#durableCrc = crc;
  }

  async #createPart(): Promise<OwnPart> {
    const { files, folder, makeFolder } = this.#place;
    const { shard, fence } = this.#request;
    await makeFolder();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const name = { shard: shard.shard, fence, attempt };
      const file = await createNew(files, join(folder, partFileName(name)));
      // Where it is there, it is of an earlier opening under this lease: its bytes may count, so it stays as it is.
      if (file !== undefined)
        return {
          name,
          file,
          header: Buffer.from(headerLine({ run: shard.run, part: name, previous: this.#previous })),
        };
    }
    throw new SinkFailed("Unwritable", "no new part can be made for a shard: too many are there");
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

function ignore(): void {
  // Whoever called flush was told.
}
