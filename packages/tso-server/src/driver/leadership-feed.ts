import { assertLeaderState, sameLeaderState, UNKNOWN, type LeaderState } from "./leader-state.ts";

/**
 * The leadership events of one driver, for any number of readers.
 *
 * Each reader gets the present state first. A reader that is behind sees only the newest state: what
 * lies between is history, and a leadership that is over needs no fence.
 */
export class LeadershipFeed {
  #state: LeaderState;
  #isClosed = false;
  readonly #readers = new Set<FeedReader>();

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
    for (const reader of this.#readers) reader.offer(state);
  }

  /** End every stream, after the state that it has not yet delivered. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  events(): AsyncIterable<LeaderState> {
    return { [Symbol.asyncIterator]: () => this.#read() };
  }

  #read(): AsyncIterator<LeaderState> {
    const reader = new FeedReader((gone) => this.#readers.delete(gone));
    reader.offer(this.#state);
    if (this.#isClosed) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

const DONE: IteratorResult<LeaderState> = { done: true, value: undefined };

class FeedReader implements AsyncIterator<LeaderState> {
  #undelivered: LeaderState | undefined;
  #isEnded = false;
  #waiting: ((result: IteratorResult<LeaderState>) => void)[] = [];
  readonly #onReturn: (reader: FeedReader) => void;

  constructor(onReturn: (reader: FeedReader) => void) {
    this.#onReturn = onReturn;
  }

  offer(state: LeaderState): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#undelivered = state;
    else waiting({ done: false, value: state });
  }

  end(): void {
    this.#isEnded = true;
    for (const waiting of this.#waiting.splice(0)) waiting(DONE);
  }

  next(): Promise<IteratorResult<LeaderState>> {
    const state = this.#undelivered;
    if (state !== undefined) {
      this.#undelivered = undefined;
      return Promise.resolve({ done: false, value: state });
    }
    if (this.#isEnded) return Promise.resolve(DONE);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<LeaderState>> {
    this.#undelivered = undefined;
    this.end();
    this.#onReturn(this);
    return Promise.resolve(DONE);
  }
}
