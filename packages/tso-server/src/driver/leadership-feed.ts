import { assertLeaderState, sameLeaderState, UNKNOWN, type LeaderState } from "./leader-state.ts";

/**
 * The leadership events of one driver, for any number of readers.
 *
 * Each reader gets the present state first. A reader that is behind sees only the newest state: what
 * lies between is history, and a leadership that is over needs no fence.
 */
export class LeadershipFeed {
  #state: LeaderState;
  /** Counts the states: a reader compares it with that of the last state it got. */
  #version = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(initial: LeaderState = UNKNOWN) {
    assertLeaderState(initial);
    this.#state = initial;
  }

  get state(): LeaderState {
    return this.#state;
  }

  /** Sends a state to all readers, unless it equals the last one. */
  publish(state: LeaderState): void {
    assertLeaderState(state);
    if (this.#isClosed || sameLeaderState(this.#state, state)) return;
    this.#state = state;
    this.#version += 1;
    this.#wake();
  }

  /** End every stream, after the state that it has not yet delivered. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *events(): AsyncGenerator<LeaderState, void> {
    for (let seen = -1; ;) {
      if (seen !== this.#version) {
        seen = this.#version;
        yield this.#state;
      } else if (this.#isClosed) {
        return;
      } else {
        await new Promise<void>((resolve) => void this.#waiting.push(resolve));
      }
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
