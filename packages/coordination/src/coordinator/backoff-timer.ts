/**
 * The only file of this package that starts a timer or draws a random number, and only for a coordinator whose caller passed
 * neither: without a pause, all attempts of an operation are over before a busy server has finished one request.
 */

/** Waits for this many milliseconds. */
export function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Returns a number from 0 up to 1. */
export function randomFraction(): number {
  return Math.random();
}
