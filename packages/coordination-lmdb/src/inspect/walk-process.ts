// The process of `walkInChild`. It takes every way through the tree that the engine can take, prints a dot whenever it has got a little
// further, and ends with what it found. On a damaged file it may be killed by the engine, or hang: that is what it is for.

import { writeSync } from "node:fs";
import { ABORT } from "lmdb";
import { codeOf } from "../engine/engine-codes.ts";
import { openDatabase, type LmdbDatabase } from "../engine/open-database.ts";
import { CODE_MARK, DAMAGED_MARK, DOT, SOUND_MARK } from "./walk-marks.ts";

/** How many rows there are to a dot: some milliseconds. */
const ROWS_PER_DOT = 1024;
const ALL = { start: Buffer.of(0), end: Buffer.alloc(8, 0xff) };

function say(word: string): void {
  writeSync(1, word);
}

/** Whether the keys ascend. In a tree that leads back to itself they do not. */
function isInOrder(db: LmdbDatabase): boolean {
  const transaction = db.useReadTransaction();
  try {
    let before: Buffer | undefined;
    let count = 0;
    for (const { key, value } of db.getRange({ ...ALL, transaction })) {
      if (before !== undefined && Buffer.compare(before, key) >= 0) return false;
      before = Buffer.from(key);
      // Whether it is found, and found to be the same, is for `fsck` to tell. Here it only has to be survived.
      void db.get(before, { transaction });
      void value.length;
      if (++count % ROWS_PER_DOT === 0) say(DOT);
    }
    return true;
  } finally {
    transaction.done();
  }
}

/** Let the engine look for a free page, as every write does, and take the write back. */
function tryWrite(db: LmdbDatabase): void {
  db.transactionSync(() => {
    void db.put(Buffer.of(0), Buffer.alloc(1), 0);
    return ABORT;
  });
}

try {
  const db = openDatabase(process.argv[2]!, "Flushed");
  say(DOT);
  const isSound = isInOrder(db);
  say(DOT);
  if (isSound) tryWrite(db);
  await db.close();
  say(isSound ? SOUND_MARK : DAMAGED_MARK);
} catch (thrown) {
  // What the system or a full table of readers refuses says nothing about the file. Everything else should not have come out of it.
  const code = codeOf(thrown);
  say(code === "MDB_READERS_FULL" || code?.startsWith("E") === true ? `${CODE_MARK}${code}` : DAMAGED_MARK);
}
