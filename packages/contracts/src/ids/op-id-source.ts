/**
 * How many ids are drawn at a time: eight kilobytes, which takes the system about as long as eight bytes do. With a kilobyte a process that
 * writes as fast as it can still asked two thousand times a second, and each time took longer than ten checkpoints.
 */
const DRAWN_COUNT = 1024;

/**
 * A source of ids that asks `fill` for many at a time, and skips 0.
 *
 * Each is given once, and nothing is drawn before the first is wanted. One that `fill` failed to draw is not
 * given: what it throws goes to the caller, and the next call draws again.
 */
export function opIdSource(fill: (out: BigUint64Array) => void): () => bigint {
  let drawn: BigUint64Array | undefined;
  let next = DRAWN_COUNT;

  return () => {
    for (;;) {
      if (drawn === undefined || next === DRAWN_COUNT) {
        drawn ??= new BigUint64Array(DRAWN_COUNT);
        fill(drawn);
        next = 0;
      }
      const id = drawn[next++]!;
      if (id !== 0n) return id;
    }
  };
}
