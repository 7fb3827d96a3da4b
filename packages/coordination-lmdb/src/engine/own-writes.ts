/** The last of our writes, and the last number that the engine gave one of our commits. */
export interface LastWrite {
  /** Counts the writes that were put down. */
  readonly turn: number;
  /** `undefined` where there was none, or where it failed. */
  readonly commitNumber: number | undefined;
}

/**
 * Which of a folder's commits are ours.
 *
 * The engine numbers the commits of all processes in one line and tells each writer the number of its own. Where ours is
 * one more than ours before, nobody else has written in between.
 *
 * A number alone is not enough. Several of our writes may be in one commit, and a transaction that has nothing to write uses no
 * number up: the next one gets the same, whosever it is. Hence the turns.
 */
export class OwnWrites {
  #turn = 0;
  #commitNumber: number | undefined;

  get last(): LastWrite {
    return { turn: this.#turn, commitNumber: this.#commitNumber };
  }

  /** A write is being put down. */
  begin(): void {
    this.#turn++;
  }

  /** The engine tells of a commit, before those who wait for it hear. */
  noteCommit(commitNumber: number | undefined): void {
    this.#commitNumber = commitNumber;
  }
}

/** Whether there is one write of ours more in `next`, and nobody wrote between the two. */
export function isNextInLine(before: LastWrite, next: LastWrite): boolean {
  if (before.commitNumber === undefined || next.commitNumber === undefined) return false;
  // The driver gives the low 32 bits.
  return next.turn === before.turn + 1 && next.commitNumber >>> 0 === (before.commitNumber + 1) >>> 0;
}
