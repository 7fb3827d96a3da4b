import { sleep } from "../time/worker-time.ts";
import type { Item } from "../sources/source.ts";
import type { CrashGate, GatedShard } from "./crash-gate.ts";
import type { ItemFlow } from "./item-flow.ts";
import type { ShardHost } from "./shard-host.ts";
import type { Upkeep } from "./upkeep.ts";
import type { Wakeup } from "./wakeup.ts";
import type { WorkerSession } from "@gossip/coordination";

const RETRY_MS = 200;

export interface CarefulParts<I extends Item, R> {
  readonly session: WorkerSession;
  readonly flow: ItemFlow<I, R>;
  readonly upkeep: Upkeep;
  readonly wakeup: Wakeup;
  readonly gate: CrashGate;
  readonly shard: GatedShard;
  readonly isStopped: () => boolean;
}

/**
 * Starts the items of a suspected shard one by one, each with a durable marker before it. If an item ends the process,
 * the next holder knows which one it was.
 *
 * A holder stores progress after so many items at the latest, so the item lies among that many after the cursor. After
 * those, the shard is above suspicion.
 */
export class CarefulStart<I extends Item, R> {
  readonly #host: ShardHost<I, R>;
  readonly #parts: CarefulParts<I, R>;
  #left: number;
  #hasMarker = false;

  constructor(host: ShardHost<I, R>, parts: CarefulParts<I, R>) {
    this.#host = host;
    this.#parts = parts;
    // One checkpoint may be in flight while the items of the next one are finished.
    this.#left = 2 * host.timing.checkpoint.items;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  /** Process one item and store it. */
  async start(item: I): Promise<void> {
    const { flow, wakeup, upkeep, gate, shard, isStopped } = this.#parts;
    while (!isStopped() && !gate.tryTake(shard)) await wakeup.wait();
    if (isStopped() || !(await this.#mark(item.key))) return;
    flow.begin(item);
    while (!isStopped() && (flow.isBusy || !flow.isDrained)) await wakeup.wait();
    await upkeep.storeNow();
    if (--this.#left === 0) await this.end();
  }

  /** Remove the marker: the hold ends, or the shard is above suspicion. */
  async end(): Promise<void> {
    const { gate, shard } = this.#parts;
    gate.release(shard);
    if (this.#hasMarker) await this.#put(undefined);
    this.#hasMarker = false;
  }

  /** Store the marker, for as long as it takes. Returns `false` if the work has to stop. */
  async #mark(key: Uint8Array): Promise<boolean> {
    const { settings } = this.#host;
    while (!this.#parts.isStopped()) {
      if (await this.#put(key)) {
        this.#hasMarker = true;
        return true;
      }
      await sleep(settings.time, RETRY_MS);
    }
    return false;
  }

  async #put(item: Uint8Array | undefined): Promise<boolean> {
    const { tenant, lease } = this.#parts.session;
    const { ok } = await this.#host.settings.coordinator.putMarker({ tenant, lease, item });
    return ok;
  }
}
