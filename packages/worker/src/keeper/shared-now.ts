/** Milliseconds that never step back and are the same for every thread of the process, which `performance.now()` is not. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
