/** Waits until no actor can continue by itself. */
export type Settle = () => Promise<void>;

/** More than the longest chain of awaits between two calls to a store. */
const TURNS = 48;
const NEXT_TURN = /* @__PURE__ */ Promise.resolve();

/** Waits for a number of turns of the promise queue. No timer is involved, so nothing outside can interfere. */
export async function settleByTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await NEXT_TURN;
}

interface ParkedCall {
  readonly dueStep: number;
  readonly resume: () => void;
}

/**
 * Decides which actor continues and when.
 *
 * Time is counted in steps of the run. An actor that has to wait is parked for some steps and then continues, in the
 * order in which the actors began to wait. Several operations can thus be in flight at once, and the same seed always
 * reorders them in the same way.
 */
export class SimScheduler {
  readonly #settle: Settle;
  #parked: ParkedCall[] = [];
  #step = 0;
  #callCount = 0;

  constructor(settle: Settle) {
    this.#settle = settle;
  }

  /** The number of steps so far. */
  get step(): number {
    return this.#step;
  }

  /** The number of parked actors. */
  get parkedCount(): number {
    return this.#parked.length;
  }

  park(steps: number): Promise<void> {
    return new Promise((resume) => {
      this.#parked.push({ dueStep: this.#step + steps, resume });
    });
  }

  /** An actor has called the store and will continue with the response. */
  noteCall(): void {
    this.#callCount += 1;
  }

  /** Waits until every actor has finished or is parked, so that no more calls reach the store. */
  async settle(): Promise<void> {
    let before: number;
    do {
      before = this.#callCount;
      await this.#settle();
    } while (this.#callCount !== before);
  }

  /** Advances by one step and lets the actors that are due continue, one after the other. */
  async nextStep(): Promise<void> {
    this.#step += 1;
    const isDue = (call: ParkedCall) => call.dueStep <= this.#step;
    const due = this.#parked.filter(isDue);
    this.#parked = this.#parked.filter((call) => !isDue(call));
    for (const call of due) {
      call.resume();
      await this.settle();
    }
  }

  /** Lets all actors continue until none is parked. */
  async drain(): Promise<void> {
    while (this.#parked.length > 0) {
      this.#step = Math.max(this.#step, ...this.#parked.map((call) => call.dueStep));
      await this.nextStep();
    }
  }
}
