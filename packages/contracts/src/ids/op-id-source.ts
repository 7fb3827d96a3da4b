/**
 * How many ids are drawn at a time: eight kilobytes, which takes the system about as long as eight bytes. With one
 * kilobyte, a busy process called the system two thousand times a second, and each call took longer than ten
 * checkpoints.
 */
const DRAWN_COUNT = 1024;

/**
 * A source of ids that asks `fill` for many at a time, and skips 0.
 *
 * Each id is returned once, and nothing is drawn before the first call. If `fill` throws, the caller gets the error,
 * and the next call draws again.
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
