/** Lets everything that can go on go on, until nothing can before something else happens. */
export type Settle = () => Promise<void>;

/** More than any chain of awaits is long between two calls to a store. */
const TURNS = 48;
const NEXT_TURN = /* @__PURE__ */ Promise.resolve();

/** Waits for so many turns of the promise queue. No timer is involved, so nothing outside can come between. */
export async function settleByTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await NEXT_TURN;
}

interface ParkedCall {
  readonly dueStep: number;
  readonly resume: () => void;
}

/**
 * Decides who goes on and when.
 *
 * Time here is counted in steps of the run. An actor that has to wait is parked for some steps, and
 * goes on when they have passed, in the order of their waiting. So many operations can be
 * under way at once, and the same seed always lets them overtake each other in the same way.
 */
export class SimScheduler {
  readonly #settle: Settle;
  #parked: ParkedCall[] = [];
  #step = 0;
  #callCount = 0;

  constructor(settle: Settle) {
    this.#settle = settle;
  }

  /** How many steps there have been. */
  get step(): number {
    return this.#step;
  }

  /** How many are waiting. */
  get parkedCount(): number {
    return this.#parked.length;
  }

  park(steps: number): Promise<void> {
    return new Promise((resume) => {
      this.#parked.push({ dueStep: this.#step + steps, resume });
    });
  }

  /** An actor has called the store, and will continue from there. */
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

  /** One step later, let those go on whose time has come, one after the other. */
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

  /** Lets all actors continue, again and again, until none has to wait. */
  async drain(): Promise<void> {
    while (this.#parked.length > 0) {
      this.#step = Math.max(this.#step, ...this.#parked.map((call) => call.dueStep));
      await this.nextStep();
    }
  }
}
