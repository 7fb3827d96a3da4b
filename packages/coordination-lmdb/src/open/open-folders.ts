import { assert } from "@gossip/stdx";
import type { OpenGate } from "../engine/gate/open-gate.ts";
import type { Durability } from "./durability.ts";

interface OpenFolder {
  readonly durability: Durability;
  count: number;
  /** Settles when the last call of `inTurn` has ended. */
  turn: Promise<unknown>;
  gate: OpenGate | undefined;
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
    if (known === undefined) this.#open.set(folder, { durability, count: 1, turn: Promise.resolve(), gate: undefined });
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

  gateOf(folder: string): OpenGate | undefined {
    return this.#open.get(folder)?.gate;
  }

  /** Keeps the gate of an entered folder, for later opens, until the last `leave`. */
  keepGate(folder: string, gate: OpenGate): void {
    const known = this.#open.get(folder);
    assert(known !== undefined, "a folder must be entered before it gets a gate");
    known.gate = gate;
  }

  /** Takes back an `enter`. Closes the gate with the last one. */
  async leave(folder: string): Promise<void> {
    const known = this.#open.get(folder);
    assert(known !== undefined, "a folder must be left as often as it was entered");
    if (--known.count > 0) return;
    this.#open.delete(folder);
    await known.gate?.close();
  }
}
