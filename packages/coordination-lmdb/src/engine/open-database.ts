import { open, type RootDatabase } from "lmdb";
import { DURABILITY_FLAGS, type Durability } from "../open/durability.ts";

/** The engine's tree, as we use it: keys and values are bytes, and every value has a version. */
export type LmdbDatabase = RootDatabase<Uint8Array, Buffer>;

/** Read transactions that all processes together may have at once. Each needs one or two. */
const MAX_READERS = 1024;

/** Open a folder's file, or make it. Throws what the driver throws. */
export function openDatabase(folder: string, durability: Durability): LmdbDatabase {
  return open<Uint8Array, Buffer>({
    path: folder,
    ...DURABILITY_FLAGS[durability],
    // A folder, even where its name ends like a file's.
    noSubdir: false,
    encoding: "binary",
    keyEncoding: "binary",
    useVersions: true,
    maxReaders: MAX_READERS,
    // The driver's default makes a commit visible first and flushes it behind that, under a second lock. The fault run, which kills processes
    // between the two, loses acknowledged commits with it. The engine's own way loses none and is as fast, since our
    // commits come one at a time.
    overlappingSync: false,
    // Commits come in batches of ours. The driver's would add a promise that nobody hears when the transaction fails.
    eventTurnBatching: false,
  });
}

/** The driver has it and does not say so in its types. */
interface Flushable {
  sync(done: (error: unknown) => void): void;
}

/** Put on disk what the operating system holds back. */
export function flush(db: LmdbDatabase): Promise<void> {
  return new Promise((resolve, reject) => {
    (db as unknown as Flushable).sync((error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
}
