import { assert } from "@gossip/stdx";
import type { Durability } from "./durability.ts";

interface OpenFolder {
  readonly durability: Durability;
  count: number;
}

/**
 * The folders that this thread has open.
 *
 * The engine opens a folder once a process and gives the same to whoever asks again, whatever durability they ask
 * for. Somebody would believe to have one that they do not have.
 */
export class OpenFolders {
  readonly #open = new Map<string, OpenFolder>();

  /** The durability that the folder is open with. Where it is another than this, it was not entered. */
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
