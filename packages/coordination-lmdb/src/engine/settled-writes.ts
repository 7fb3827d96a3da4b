/** What the driver keeps of a write that was put down. One points to the next. */
export interface PutDownWrite {
  next: PutDownWrite | null;
}

/**
 * Cuts the chain of writes that are over.
 *
 * The driver keeps writes in a chain, in their order, goes along it as they are made, and leaves it whole behind itself. As soon as one of them is
 * old enough to be collected late, it holds on to all that came after it, with their promises and what hangs on those: every one
 * grows old in its turn. Collecting them was a fifth of all that a process did that wrote as fast as it could.
 */
export class SettledWrites {
  #first: PutDownWrite | null | undefined;

  /** All writes before this one are over, and nobody looks at them again. */
  cutBefore(next: PutDownWrite | null | undefined): void {
    let write = this.#first;
    // Where the driver names none, some of the chain may be under way.
    while (next && write && write !== next) {
      const after = write.next;
      write.next = null;
      write = after;
    }
    this.#first = next;
  }
}
