import type { StatusCounts } from "@gossip/coordination-fsck";
import type { RunAddress } from "@gossip/store-kit";
import type { Rows } from "../engine/rows.ts";
import { nextSlot, readSlot, toBytes, type StatusSlot } from "./status-counts.ts";

/**
 * The status counts that the updates of one transaction write.
 *
 * Each update that changes a status writes its slot of the run as the update before it left it. If that one was refused,
 * or another store writes the same slot, the slot has another version. The update is then overtaken: it is not written,
 * and can be tried again with the slot as it is then.
 */
export class CountSteps {
  readonly #rows: Rows;
  readonly #slot: number;
  /** The slots that are not the last one. */
  readonly #slots = new Map<string, StatusSlot>();
  #last: { readonly address: RunAddress; slot: StatusSlot } | undefined;
  readonly #indexes: number[] = [];
  /** Whether each step was made. */
  readonly heard: Promise<boolean>[] = [];

  constructor(rows: Rows, slot: number) {
    this.#rows = rows;
    this.#slot = slot;
  }

  /** Queues the writes of an update together with its change of the counts. Call it within the update's own condition. */
  put(
    address: RunAddress,
    { index, change }: { readonly index: number; readonly change: StatusCounts },
    write: () => void,
  ): void {
    const rows = this.#rows;
    const last = this.#enter(address);
    const { slot } = last;
    const next = nextSlot(slot, change);
    last.slot = next;
    this.#indexes.push(index);
    const both = (): void => {
      rows.put(slot.key, toBytes(next.counts), next.version);
      write();
    };
    this.heard.push(
      slot.version === undefined ? rows.ifMissing(slot.key, both) : rows.ifVersion(slot.key, slot.version, both),
    );
  }

  /** Given which updates met their own conditions and which steps were made, corrects the former and returns the overtaken. */
  resolve(isMade: boolean[], steps: readonly boolean[]): readonly number[] {
    const overtaken = this.#indexes.filter((index, at) => isMade[index] === true && steps[at] !== true);
    for (const index of overtaken) isMade[index] = false;
    return overtaken;
  }

  /** The slot of a run. The updates of one run mostly follow each other. */
  #enter(address: RunAddress): { slot: StatusSlot } {
    const last = this.#last;
    if (last?.address.run === address.run && last.address.tenant === address.tenant) return last;
    if (last !== undefined) this.#slots.set(nameOf(last.address), last.slot);
    this.#last = { address, slot: this.#slots.get(nameOf(address)) ?? this.#read(address) };
    return this.#last;
  }

  #read(address: RunAddress): StatusSlot {
    // Otherwise the slot would often be that before our last write.
    this.#rows.refresh();
    return readSlot(this.#rows, address, this.#slot);
  }
}

function nameOf({ tenant, run }: RunAddress): string {
  return `${run} ${tenant}`;
}
