import { closePipes, openManyOutputPipes, type OutputPipes } from "../exec/named-pipes.ts";

/** The pipes of processes that are not started yet: the first processes of a pool usually start together. */
export class SparePipes {
  /** How many to make next. */
  #count: number;
  #spare: OutputPipes[] = [];

  /** `count` is the number of processes. */
  constructor(count: number) {
    this.#count = count;
  }

  take(): OutputPipes {
    if (this.#spare.length === 0) {
      this.#spare = [...openManyOutputPipes(this.#count, { reportEnd: true })];
      // Later processes replace single ones.
      this.#count = 1;
    }
    return this.#spare.pop()!;
  }

  close(): void {
    for (const pipes of this.#spare.splice(0)) closePipes(pipes);
  }
}
