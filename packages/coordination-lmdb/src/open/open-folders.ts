import { assert } from "@gossip/stdx";
import type { Durability } from "./durability.ts";

interface OpenFolder {
  readonly durability: Durability;
  count: number;
  /** Settles when the last call of `inTurn` has ended. */
  turn: Promise<unknown>;
}

/**
 * The folders that this thread has open.
 *
 * The engine opens a folder once per process and ignores the durability of later opens. Without this check, a caller
 * could rely on a durability that it does not have.
 */
export class OpenFolders {
  readonly #open = new Map<string, OpenFolder>();

  /**
   * Registers an open of the folder, unless it is open with another durability. Returns the durability that it is open
   * with.
   */
  enter(folder: string, durability: Durability): Durability {
    const known = this.#open.get(folder);
    if (known === undefined) this.#open.set(folder, { durability, count: 1, turn: Promise.resolve() });
    else if (known.durability === durability) known.count++;
    else return known.durability;
    return durability;
  }

  /**
   * Opens an entered folder when earlier calls for it have ended.
   *
   * The engine creates its tree in a write transaction and blocks the thread until it gets one. If another open has
   * begun a transaction, which needs this thread to end, both would wait forever.
   */
  inTurn<T>(folder: string, open: () => Promise<T>): Promise<T> {
    const known = this.#open.get(folder);
    assert(known !== undefined, "a folder must be entered before it is opened");
    const opened = known.turn.then(open);
    known.turn = opened.catch(() => undefined);
    return opened;
  }

  leave(folder: string): void {
    const known = this.#open.get(folder);
    assert(known !== undefined, "a folder must be left as often as it was entered");
    if (--known.count === 0) this.#open.delete(folder);
  }
}
