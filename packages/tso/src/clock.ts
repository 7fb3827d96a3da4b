/**
 * Where the oracle learns the time of day, in milliseconds since the Unix epoch.
 *
 * It is advisory: it moves issued time towards the wall clock and decides nothing else. A clock that
 * stands still, jumps or runs backward cannot make the oracle repeat or regress.
 */
export interface Clock {
  nowMs(): number;
}
