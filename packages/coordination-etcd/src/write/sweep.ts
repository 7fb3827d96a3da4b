import type { KeyValue } from "@gossip/etcd-client";
import { Sweeper as BackgroundSweeper } from "@gossip/store-kit";
import type { Cluster } from "../cluster/cluster.ts";
import { addressOf, keyAfter, type KeyRange, type RunAddress, type Space } from "../layout/layout.ts";
import { notesOfRun } from "../layout/note-keys.ts";
import { isStaged } from "./staging.ts";

/** Maximum number of keys deleted in one transaction. */
const SWEEP_SIZE = 2000;
/**
 * A registration that has been staged for this long, as observed by this process, counts as abandoned. If it was not,
 * its worker has to retry.
 */
export const GIVE_UP_AFTER_MS = 15 * 60_000;

/**
 * Deletes the keys that removed runs and abandoned registrations left, piece by piece, in the background.
 *
 * Its queue is in etcd: a key for each space to be emptied. If a process is killed, the next one that opens the store
 * or removes a run continues. Two processes may sweep the same space.
 */
export class Sweeper {
  readonly #cluster: Cluster;
  readonly #nowMs: () => number;
  /** When a staged space was first observed, by its key and revision. */
  readonly #seenMs = new Map<string, number>();
  readonly #givenUp = new Set<Space>();
  readonly #background = new BackgroundSweeper(() => this.#sweepAll());
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  /** `nowMs` is a clock that never goes back. */
  constructor(cluster: Cluster, nowMs: () => number = () => performance.now()) {
    this.#cluster = cluster;
    this.#nowMs = nowMs;
  }

  /** Sweeps until nothing is left. */
  start(): void {
    this.#background.start();
  }

  /** Gives up a space that this process staged and that is not needed. */
  giveUp(space: Space): void {
    this.#givenUp.add(space);
    this.start();
  }

  /** Settles when no sweep is running. */
  get idle(): Promise<void> {
    return this.#background.idle;
  }

  /** Waits for the current transaction and starts no other. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#background.stop();
  }

  async #sweepAll(): Promise<void> {
    for (const space of this.#givenUp) {
      await this.#giveUp(this.#cluster.layout.staged(space));
      this.#givenUp.delete(space);
    }
    await this.#giveUpOld();
    const { found } = await this.#cluster.look([this.#cluster.layout.family("unswept")]);
    for (const { key, value } of found[0]!.kvs) {
      // A marker that stays is swept again, and finds nothing.
      if (await this.#sweep(key, addressOf(`/${value.toString()}`))) void (await this.#cluster.client.delete(key));
    }
  }

  /** Sweeps what a marker stands for. Returns whether all of it is gone. */
  async #sweep(marker: string, address: RunAddress | undefined): Promise<boolean> {
    const { layout, client } = this.#cluster;
    if (!(await this.#empty(layout.space(marker.slice(marker.lastIndexOf("/") + 1))))) return false;
    if (address === undefined) return true;
    // The space may be that of an abandoned registration, and the run with its notes still exist.
    const deleted = await client.get(layout.deleted(address));
    if (!deleted.ok) return false;
    return deleted.value.found === undefined || this.#empty(notesOfRun(layout, address));
  }

  /** Deletes the keys of a range, piece by piece. Returns whether none is left. */
  async #empty({ get, end }: KeyRange): Promise<boolean> {
    const { client } = this.#cluster;
    let from = get;
    while (!this.#isStopped) {
      const page = await client.range({ get: from, end, limit: SWEEP_SIZE, keysOnly: true });
      if (!page.ok) return false;
      const last = page.value.kvs.at(-1);
      if (last !== undefined && !(await client.delete(from, keyAfter(last.key))).ok) return false;
      if (last === undefined || !page.value.more) return true;
      from = last.key;
    }
    return false;
  }

  /** Gives up spaces that have been staged for too long. */
  async #giveUpOld(): Promise<void> {
    const nowMs = this.#nowMs();
    const { found } = await this.#cluster.look([this.#cluster.layout.family("staged")]);
    const names = new Set<string>();
    for (const kv of found[0]!.kvs) {
      const name = `${kv.key} ${kv.modRevision}`;
      names.add(name);
      const sinceMs = this.#seenMs.get(name) ?? nowMs;
      this.#seenMs.set(name, sinceMs);
      if (nowMs - sinceMs >= GIVE_UP_AFTER_MS) await this.#giveUp(kv.key, kv);
    }
    for (const name of this.#seenMs.keys()) if (!names.has(name)) this.#seenMs.delete(name);
    if (names.size > 0 && !this.#isStopped)
      this.#timer ??= setTimeout(() => this.#lookAgain(), GIVE_UP_AFTER_MS).unref();
  }

  #lookAgain(): void {
    this.#timer = undefined;
    this.start();
  }

  async #giveUp(marker: string, seen?: KeyValue): Promise<void> {
    const { layout } = this.#cluster;
    const space = marker.slice(marker.lastIndexOf("/") + 1);
    const isAsSeen =
      seen === undefined
        ? isStaged(marker)
        : ({ key: marker, target: "MOD", is: "EQUAL", revision: seen.modRevision } as const);
    await this.#cluster.write({
      compare: [isAsSeen],
      success: [{ delete: marker }, { put: layout.unswept(space), value: seen?.value ?? "" }],
    });
  }
}
