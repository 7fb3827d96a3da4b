/** A shard in work, as the gate sees it. */
export interface GatedShard {
  /** Whether it has items in flight. */
  readonly isBusy: boolean;
  /** Something that it waits for may have changed. */
  onGateChange(): void;
}

/**
 * Lets one suspected shard of this process run alone.
 *
 * If a process dies while several shards are in work, any of them may be to blame. So before a suspected shard starts an
 * item, every other shard of the process has to be idle.
 */
export class CrashGate {
  readonly #shards: Iterable<GatedShard>;
  readonly #onOpen: () => void;
  #owner: GatedShard | undefined;

  /** `shards` are all shards in work. */
  constructor(shards: Iterable<GatedShard>, onOpen: () => void) {
    this.#shards = shards;
    this.#onOpen = onOpen;
  }

  /** Whether one shard has the process to itself, or is about to. */
  get isTaken(): boolean {
    return this.#owner !== undefined;
  }

  /** Whether a shard may start an item. */
  isOpenFor(shard: GatedShard): boolean {
    return this.#owner === undefined || this.#owner === shard;
  }

  /** Try to have the process alone. The other shards start nothing from now on, and may have to finish items first. */
  tryTake(shard: GatedShard): boolean {
    this.#owner ??= shard;
    if (this.#owner !== shard) return false;
    for (const other of this.#shards) if (other !== shard && other.isBusy) return false;
    return true;
  }

  /** The shard no longer needs to be alone, or is left. */
  release(shard: GatedShard): void {
    if (this.#owner !== shard) return;
    this.#owner = undefined;
    for (const other of this.#shards) other.onGateChange();
    this.#onOpen();
  }

  /** A shard has fewer items in flight. */
  changed(): void {
    this.#owner?.onGateChange();
  }
}
