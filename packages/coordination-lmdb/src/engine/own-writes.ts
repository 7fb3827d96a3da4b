/** The last write of this store, and the number of its last commit. */
export interface LastWrite {
  /** Counts the writes that were handed to the driver. */
  readonly turn: number;
  /** `undefined` if there was none, or if it failed. */
  readonly commitNumber: number | undefined;
}

/**
 * Tracks which commits of a folder this store made.
 *
 * The engine numbers the commits of all processes in one sequence and reports the number of each commit to its writer.
 * If the number of this store's commit is one more than that of its previous one, no other process has written in
 * between.
 *
 * The number alone is not enough. One commit may contain several writes of this store, and a transaction that writes
 * nothing uses up no number, so the next commit gets the same one. Hence the turns.
 */
export class OwnWrites {
  #turn = 0;
  #commitNumber: number | undefined;

  get last(): LastWrite {
    return { turn: this.#turn, commitNumber: this.#commitNumber };
  }

  /** Call when a write is handed to the driver. */
  begin(): void {
    this.#turn++;
  }

  /** Call when the engine reports a commit, before its callers continue. */
  noteCommit(commitNumber: number | undefined): void {
    this.#commitNumber = commitNumber;
  }
}

/** Whether `next` is exactly one write of this store after `before`, with no write of others in between. */
export function isNextInLine(before: LastWrite, next: LastWrite): boolean {
  if (before.commitNumber === undefined || next.commitNumber === undefined) return false;
  // The driver reports the low 32 bits.
  return next.turn === before.turn + 1 && next.commitNumber >>> 0 === (before.commitNumber + 1) >>> 0;
}
