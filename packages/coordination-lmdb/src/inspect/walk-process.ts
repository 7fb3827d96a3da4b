// The process of `walkInChild`. It reads every path of the tree, prints a dot from time to time, and ends with the
// result. If the file is damaged, the engine may kill it or hang: that is its purpose.

import { writeSync } from "node:fs";
import { ABORT } from "lmdb";
import { codeOf } from "../engine/engine-codes.ts";
import { openDatabase, type LmdbDatabase } from "../engine/open-database.ts";
import { makeGate } from "../open/make-gate.ts";
import { CODE_MARK, DAMAGED_MARK, DOT, SOUND_MARK } from "./walk-marks.ts";

/** Rows per dot: a few milliseconds. */
const ROWS_PER_DOT = 1024;
const ALL = { start: Buffer.of(0), end: Buffer.alloc(8, 0xff) };

function say(word: string): void {
  writeSync(1, word);
}

/** Whether the keys ascend, which they do not in a tree with a cycle, and are as many as the tree says. */
function isInOrder(db: LmdbDatabase): boolean {
  const transaction = db.useReadTransaction();
  // Of the same transaction, which is that of the whole turn of the event loop.
  const { entryCount } = db.getStats() as { readonly entryCount: number };
  try {
    let before: Buffer | undefined;
    let count = 0;
    for (const { key, value } of db.getRange({ ...ALL, transaction })) {
      if (before !== undefined && Buffer.compare(before, key) >= 0) return false;
      before = Buffer.from(key);
      // `fsck` checks the result. Here the lookup only has to end.
      void db.get(before, { transaction });
      void value.length;
      if (++count % ROWS_PER_DOT === 0) say(DOT);
    }
    return count === entryCount;
  } finally {
    transaction.done();
  }
}

/** Lets the engine look for a free page, as every write does, and rolls back. */
function tryWrite(db: LmdbDatabase): void {
  db.transactionSync(() => {
    void db.put(Buffer.of(0), Buffer.alloc(1), 0);
    return ABORT;
  });
}

/** Opens the store while no process commits. Ends this process if its gate cannot be opened. */
async function openStore(folder: string): Promise<LmdbDatabase> {
  const gate = await makeGate(folder);
  if (!gate.ok) {
    say(`${CODE_MARK}${gate.error.kind}`);
    process.exit();
  }
  const db = await gate.value.openAlone(() => openDatabase(folder, "Flushed"));
  await gate.value.close();
  return db;
}

try {
  const db = await openStore(process.argv[2]!);
  say(DOT);
  const isSound = isInOrder(db);
  say(DOT);
  if (isSound) tryWrite(db);
  await db.close();
  say(isSound ? SOUND_MARK : DAMAGED_MARK);
} catch (thrown) {
  // Errors of the system, and a full table of readers, say nothing about the file. Any other error is damage.
  const code = codeOf(thrown);
  say(code === "MDB_READERS_FULL" || code?.startsWith("E") === true ? `${CODE_MARK}${code}` : DAMAGED_MARK);
}
