import { resolve } from "node:path";
import { assert, assertCount } from "@gossip/stdx";
import type { ShardSink, Sink, SinkRequest } from "../sink.ts";
import type { Item } from "../../sources/source.ts";
import { SinkFailed } from "../sink-failed.ts";
import { NdjsonShardSink, type RecordForm, type ToRecord, type ToSkippedRecord } from "./ndjson-shard-sink.ts";
import { PART_FILES, type PartFiles } from "./part-files.ts";
import { openCounted, runFolder, writeFailure } from "./part-folder.ts";
import { decodeToken } from "./part-token.ts";

export interface NdjsonSinkOptions<I extends Item = Item, R = unknown> {
  /**
   * The final file, or a folder of parts if it ends with `/`. Compressed if the name ends with `.gz`. Until then results
   * are in the folder `PATH.parts`, which all workers of the run must be able to access.
   */
  readonly path: string;
  /** Turns a result into the value to write. `undefined` writes no line. Default: the result itself. */
  readonly toRecord?: ToRecord<I, R>;
  /** Turns a skipped item into the value to write. Default: skipped items write no line. */
  readonly toSkippedRecord?: ToSkippedRecord<I>;
  /** The largest line, in UTF-16 code units. The item of a larger result fails. Default: 64 Mi. */
  readonly maxRecordSize?: number;
}

const DEFAULT_MAX_RECORD_SIZE = 2 ** 26;

/**
 * Writes results as lines of JSON, each exactly once, even after crashes.
 *
 * Every lease writes its own file, in key order, and no two leases write to the same one. The first line of a file
 * records how much of which earlier file counts, and the shard's cursor records how much of the last file counts. Bytes
 * after that were written by a worker that crashed or was superseded; `assembleNdjson` leaves them out.
 */
export function ndjsonSink<I extends Item = Item, R = unknown>(options: NdjsonSinkOptions<I, R>): Sink<I, R> {
  return new NdjsonSink(options, PART_FILES);
}

export class NdjsonSink<I extends Item, R> implements Sink<I, R> {
  readonly #path: string;
  readonly #form: RecordForm<I, R>;
  readonly #files: PartFiles;
  readonly #made = new Map<string, Promise<void>>();

  constructor(options: NdjsonSinkOptions<I, R>, files: PartFiles) {
    assert(
      typeof options === "object" && options !== null,
      () => `ndjson sink options must be an object, got ${typeof options}`,
    );
    const { path, toRecord = resultItself, toSkippedRecord, maxRecordSize = DEFAULT_MAX_RECORD_SIZE } = options;
    assert(typeof path === "string" && path.length > 0, "path must be the path of a file");
    assert(typeof toRecord === "function", "toRecord must be a function");
    assert(
      toSkippedRecord === undefined || typeof toSkippedRecord === "function",
      "toSkippedRecord must be a function",
    );
    // A string of V8 cannot be longer than about half a GiB.
    assertCount(maxRecordSize, "maxRecordSize", { min: 1, max: 2 ** 28 });
    this.#path = resolve(path);
    this.#form = { toRecord, toSkippedRecord, maxRecordSize };
    this.#files = files;
  }

  async open(request: SinkRequest): Promise<ShardSink<I, R>> {
    const { shard, token } = request;
    const folder = runFolder(this.#path, shard.run);
    const previous = decodeToken(token);
    if (previous === null)
      throw new SinkFailed("TokenInvalid", "the cursor of a shard holds a token that this sink did not write");
    if (previous !== undefined) {
      const { file } = await openCounted(this.#files, folder, shard.run, previous);
      await file.close();
    }
    const makeFolder = () => this.#makeOnce(folder);
    return new NdjsonShardSink({ files: this.#files, folder, makeFolder }, request, previous, this.#form);
  }

  /** Create the folder once for all shards. A failed attempt is repeated. */
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
