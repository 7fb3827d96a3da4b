import { FenceEpoch, RunId, ShardId } from "@gossip/contracts";
import type { ShardSink } from "../sink.ts";
import type { Item } from "../../sources/source.ts";
import { Crash, type CrashingFiles } from "./crashing-files.fixture.ts";
import { NdjsonSink } from "./ndjson-sink.ts";

export const OUT = "/data/out.ndjson";
export const RUN: RunId = RunId.fromRaw(7n);
const NO_KEY = new Uint8Array(1);

/** One holder of a shard. */
export interface Life {
  /** Items between two checkpoints. */
  readonly every: number;
  /** Items after which it is superseded without knowing. */
  readonly items: number;
  /** File system steps after which it crashes. */
  readonly crashAfter: number;
  /** Whether the machine loses power, instead of only the process dying. */
  readonly losesPower: boolean;
  /** Whether its last flush is never checkpointed. */
  readonly isOvertaken: boolean;
}

export const GOOD_LIFE: Life = {
  every: 3,
  items: Infinity,
  crashAfter: Infinity,
  losesPower: false,
  isOvertaken: false,
};

/** The items of a shard and its record, which survives every crash. */
export class ShardHistory {
  readonly items: readonly number[];
  shard: ShardId;
  readonly #path: string;
  #next = 0;
  #token: Uint8Array | undefined;
  #fence = 0n;
  #zombies: ShardSink<Item, { readonly item: number }>[] = [];

  constructor(shard: bigint, items: readonly number[], path = OUT) {
    this.shard = ShardId.fromRaw(shard);
    this.items = items;
    this.#path = path;
  }

  get token(): Uint8Array | undefined {
    return this.#token;
  }

  get isDone(): boolean {
    return this.#next === this.items.length;
  }

  /** The first child of a split shard continues from its parent's cursor, with its own id and fences. */
  replace(shard: bigint): void {
    this.shard = ShardId.fromRaw(shard);
    this.#fence = 0n;
  }

  async live(files: CrashingFiles, life: Life, random: (bound: number) => number): Promise<void> {
    files.crashAfter(life.crashAfter);
    try {
      await this.#work(files, life);
    } catch (thrown) {
      if (!(thrown instanceof Crash) && !((thrown as Error).cause instanceof Crash)) throw thrown;
      this.#zombies = [];
      files.recover(life.losesPower ? random : undefined);
    }
    files.crashAfter(Infinity);
  }

  async #work(files: CrashingFiles, life: Life): Promise<void> {
    const fence = FenceEpoch.fromRaw(++this.#fence);
    const sink = await new NdjsonSink<Item, { readonly item: number }>({ path: this.#path }, files).open({
      shard: { run: RUN, shard: this.shard },
      fence,
      token: this.#token,
    });
    const last = Math.min(this.items.length, this.#next + life.items);
    const write = (place: number) => sink.write({ key: NO_KEY }, { item: this.items[place]! });
    for (let written = this.#next; this.#next < last;) {
      const upTo = Math.min(last, this.#next + life.every);
      for (; written < upTo; written++) {
        write(written);
        await this.#disturb(written);
      }
      const flushed = sink.flush();
      // A result written while the disk is busy must not be in this token.
      if (written < last) write(written++);
      const token = await flushed;
      if (upTo === last && life.isOvertaken) break;
      this.#token = token;
      this.#next = upTo;
    }
    if (life.isOvertaken) this.#zombies.push(sink);
    else await sink.close();
  }

  /** Superseded holders keep writing for a while, as they do in reality. */
  async #disturb(place: number): Promise<void> {
    for (const zombie of this.#zombies) {
      zombie.write({ key: NO_KEY }, { item: this.items[place]! });
      if (place % 2 === 0) await zombie.flush();
    }
  }
}
