/** Lets one loop wait until something changes. The loop checks for itself what has changed. */
export class Wakeup {
  #wake: (() => void) | undefined;

  /** Resolves at the next `poke`. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  poke(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
