// Processes that share the limits of a run, in simulated time: each has a limiter of its own and a coordinator of its own
// over one store, and starts items as fast as the limiter lets it.
import { LogicalTime, WorkerId } from "@gossip/contracts";
import { Coordinator } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { numberedSource, RUN, World } from "../runtime/world.fixture.ts";
import { FleetLimiter } from "./fleet-limiter.ts";

export interface FleetOptions {
  readonly seed?: number;
  readonly itemsPerSecond?: number | null;
  readonly concurrency?: number | null;
}

export interface ProcessOptions {
  /** Items that it can have in progress. */
  readonly capacity?: number;
  readonly itemMs?: number;
  /** How far the clock of its coordinator is ahead. */
  readonly skewMs?: number;
}

export class Fleet {
  readonly world: World;
  /** When items were started, by any process. */
  readonly starts: number[] = [];
  readonly processes: FleetProcess[] = [];
  /** The most items that were in progress at a time. */
  maxInFlight = 0;
  #count = 0;

  private constructor(seed: number) {
    this.world = new World({ seed });
  }

  static async start({ seed = 1, itemsPerSecond = null, concurrency = null }: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(seed);
    await fleet.world.start(numberedSource(1));
    await fleet.set({ itemsPerSecond, concurrency });
    return fleet;
  }

  async set(change: { readonly itemsPerSecond?: number | null; readonly concurrency?: number | null }): Promise<void> {
    unwrap(await this.world.coordinator.changeRunSettings({ ...RUN, change }));
  }

  /** A coordinator of its own, with a clock that differs. */
  connect(skewMs: number): Coordinator {
    const { store, clock, time } = this.world;
    const now = (): LogicalTime => LogicalTime.fromRaw(clock.now() + BigInt(skewMs));
    const retry = { sleep: (ms: number) => time.sleep(ms), random: () => time.random() };
    return new Coordinator({ store, clock: { now }, retry });
  }

  get inFlight(): number {
    return this.processes.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  join(options: ProcessOptions = {}): FleetProcess {
    const joined = new FleetProcess(this, WorkerId.fromRaw(BigInt(++this.#count)), options);
    this.processes.push(joined);
    return joined;
  }

  /** Let so much time pass. */
  async run(ms: number): Promise<void> {
    await this.world.time.runUntil(this.world.time.sleep(ms));
  }

  /** How many items were started between two times. */
  startedBetween(fromMs: number, toMs: number): number {
    return this.starts.filter((ms) => ms >= fromMs && ms < toMs).length;
  }

  /** By how many items the starts of any span of time exceeded the rate. */
  excessOver(itemsPerSecond: number): number {
    let [least, most] = [Infinity, 0];
    for (const [index, ms] of this.starts.entries()) {
      const ahead = index - (itemsPerSecond * ms) / 1000;
      least = Math.min(least, ahead);
      most = Math.max(most, ahead + 1 - least);
    }
    return most;
  }
}

export class FleetProcess {
  readonly limiter: FleetLimiter;
  inFlight = 0;
  started = 0;
  readonly #fleet: Fleet;
  readonly #capacity: number;
  readonly #itemMs: number;
  #isOver = false;
  #cancel: (() => void) | undefined;

  constructor(fleet: Fleet, worker: WorkerId, { capacity = 64, itemMs = 5, skewMs = 0 }: ProcessOptions) {
    this.#fleet = fleet;
    this.#capacity = capacity;
    this.#itemMs = itemMs;
    const { time } = fleet.world;
    this.limiter = new FleetLimiter({
      coordinator: fleet.connect(skewMs),
      run: RUN,
      worker,
      time,
      demand: () => ({ inFlight: this.inFlight, capacity }),
      onRoom: () => this.#fill(),
      onBug: (error) => {
        throw error;
      },
    });
    void this.#look();
  }

  /** Stops like a process that gets a signal. */
  async leave(): Promise<void> {
    this.crash();
    await this.limiter.close();
  }

  /** Stop without a word. Items in progress are lost. */
  crash(): void {
    this.#isOver = true;
    this.inFlight = 0;
    this.#cancel?.();
    this.limiter.stop();
  }

  async #look(): Promise<void> {
    const { coordinator, time } = this.#fleet.world;
    const settings = unwrap(await coordinator.getRunSettings(RUN));
    if (this.#isOver) return;
    this.limiter.apply(settings);
    this.#fill();
    this.#cancel = time.startTimer(1000, () => void this.#look());
  }

  #fill(): void {
    const { world, starts } = this.#fleet;
    while (!this.#isOver && this.inFlight < this.#capacity && this.limiter.mayStart()) {
      this.limiter.took();
      this.inFlight++;
      this.started++;
      starts.push(world.time.nowMs());
      this.#fleet.maxInFlight = Math.max(this.#fleet.maxInFlight, this.#fleet.inFlight);
      world.time.startTimer(this.#itemMs, () => {
        if (this.#isOver) return;
        this.inFlight--;
        this.#fill();
      });
    }
  }
}
