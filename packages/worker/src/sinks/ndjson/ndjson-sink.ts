import { resolve } from "node:path";
import { assert } from "@gossip/stdx";
import type { ShardSink, Sink, SinkRequest } from "../sink.ts";
import type { Item } from "../../source/source.ts";
import { SinkFailed } from "../sink-failed.ts";
import { NdjsonShardSink, type ToRecord } from "./ndjson-shard-sink.ts";
import { PART_FILES, type PartFiles } from "./part-files.ts";
import { openCounted, runFolder, writeFailure } from "./part-folder.ts";
import { decodeToken } from "./part-token.ts";

export interface NdjsonSinkOptions<I extends Item = Item, R = unknown> {
  /** The file that there will be in the end. Until then results are in the folder `PATH.parts`, which all workers of the run must see. */
  readonly path: string;
  /** What is written of a result: itself where this is left out. `undefined` writes no line. */
  readonly toRecord?: ToRecord<I, R>;
}

/**
 * Results as lines of JSON, each of them once, whatever crashes.
 *
 * Every lease writes a file of its own, in the order of keys, and none is ever written by two. A file's first line
 * says how much counts of which file before it, and a shard's cursor says how much counts of its last one. What is
 * behind that was written by somebody who crashed or was overtaken, and is left out by `assembleNdjson`.
 */
export function ndjsonSink<I extends Item = Item, R = unknown>(options: NdjsonSinkOptions<I, R>): Sink<I, R> {
  return new NdjsonSink(options, PART_FILES);
}

export class NdjsonSink<I extends Item, R> implements Sink<I, R> {
  readonly #path: string;
  readonly #toRecord: ToRecord<I, R>;
  readonly #files: PartFiles;
  readonly #made = new Map<string, Promise<void>>();

  constructor(options: NdjsonSinkOptions<I, R>, files: PartFiles) {
    assert(
      typeof options === "object" && options !== null,
      () => `ndjson sink options must be an object, got ${typeof options}`,
    );
    const { path, toRecord = resultItself } = options;
    assert(typeof path === "string" && path.length > 0, "path must be the path of a file");
    assert(typeof toRecord === "function", "toRecord must be a function");
    this.#path = resolve(path);
    this.#toRecord = toRecord;
    this.#files = files;
  }

  async open(request: SinkRequest): Promise<ShardSink<I, R>> {
    const { shard, token } = request;
    const folder = runFolder(this.#path, shard.run);
    const previous = decodeToken(token);
    if (previous === null)
      throw new SinkFailed("TokenInvalid", "the cursor of a shard says nothing that this sink has written");
    if (previous !== undefined) {
      const { file } = await openCounted(this.#files, folder, shard.run, previous);
      await file.close();
    }
    const makeFolder = () => this.#makeOnce(folder);
    return new NdjsonShardSink({ files: this.#files, folder, makeFolder }, request, previous, this.#toRecord);
  }

  /** Once for all shards; again where it failed. */
  #makeOnce(folder: string): Promise<void> {
    let made = this.#made.get(folder);
    if (made === undefined) {
      made = this.#files.makeFolder(folder).catch((thrown: unknown) => {
        this.#made.delete(folder);
        throw writeFailure(thrown, `the folder ${folder}`);
      });
      this.#made.set(folder, made);
    }
    return made;
  }
}

function resultItself<R>(_item: unknown, result: R): R {
  return result;
}
