/** An item took longer than `itemTimeoutMs`. The reason of its signal, and the error that it fails with. */
export class ItemTimedOut extends Error {
  override readonly name = "ItemTimedOut";
  readonly timeoutMs: number;

  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`it took longer than ${timeoutMs} ms`, options);
    this.timeoutMs = timeoutMs;
  }
}
