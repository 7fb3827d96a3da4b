import { open, type RootDatabase } from "lmdb";
import { DURABILITY_FLAGS, type Durability } from "../open/durability.ts";

/** The tree of the engine: keys and values are bytes, and every value has a version. */
export type LmdbDatabase = RootDatabase<Uint8Array, Buffer>;

/** Maximum number of read transactions of all processes together. Each process needs one or two. */
const MAX_READERS = 1024;

/**
 * The page size of a new file; an older file keeps its own. Renewals scatter the pages that a commit writes, so that each
 * becomes a request to the disk: twice the size means half the requests. See decision 0072.
 */
export const PAGE_SIZE = 8192;

/** Opens the file of a folder, or creates it. Throws what the driver throws. */
export function openDatabase(folder: string, durability: Durability): LmdbDatabase {
  return open<Uint8Array, Buffer>({
    path: folder,
    ...DURABILITY_FLAGS[durability],
    // A folder, even if its name looks like that of a file.
    noSubdir: false,
    encoding: "binary",
    keyEncoding: "binary",
    useVersions: true,
    maxReaders: MAX_READERS,
    pageSize: PAGE_SIZE,
    // The default of the driver makes a commit visible before it is flushed, under a second lock. With it, the fault
    // run, which kills processes between the two steps, loses acknowledged commits. The standard way of the engine
    // loses none and is as fast, because only one commit is in flight.
    overlappingSync: false,
    // The coordinator batches commits. Batching by the driver would add a promise whose rejection is never handled.
    eventTurnBatching: false,
  });
}

/** Missing in the types of the driver. */
interface Flushable {
  sync(done: (error: unknown) => void): void;
}

/** Flushes what the operating system still buffers. */
export function flush(db: LmdbDatabase): Promise<void> {
  return new Promise((resolve, reject) => {
    (db as unknown as Flushable).sync((error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
}
