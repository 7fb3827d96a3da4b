/** A monotonic time in milliseconds that is the same for all threads of the process, unlike `performance.now()`. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
