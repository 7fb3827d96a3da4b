import { assert } from "@gossip/stdx";
import type { Durability } from "./durability.ts";

interface OpenFolder {
  readonly durability: Durability;
  count: number;
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
    if (known === undefined) this.#open.set(folder, { durability, count: 1 });
    else if (known.durability === durability) known.count++;
    else return known.durability;
    return durability;
  }

  leave(folder: string): void {
    const known = this.#open.get(folder);
    assert(known !== undefined, "a folder must be left as often as it was entered");
    if (--known.count === 0) this.#open.delete(folder);
  }
}
