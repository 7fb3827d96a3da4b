// The part of the key axis that the pictures of a run show.

export interface KeyWindow {
  readonly from: number;
  readonly to: number;
}

export const WHOLE: KeyWindow = { from: 0, to: 1 };

/** Doubles have 53 bits. A narrower window would show steps instead of positions. */
const NARROWEST = 1e-9;

/** The window of the selected share of a picture. A selection may be drawn in either direction. */
export function zoomTo(window: KeyWindow, a: number, b: number): KeyWindow {
  const [low, high] = a < b ? [a, b] : [b, a];
  return bounded(positionAt(window, low), positionAt(window, high));
}

/** Shows `1 / factor` of the window around the point at share `x`, which stays where it is. */
export function zoomAround(window: KeyWindow, x: number, factor: number): KeyWindow {
  const size = (window.to - window.from) / factor;
  const from = positionAt(window, x) - size * x;
  return bounded(from, from + size);
}

/** Moves the window by a share of its width, and stops at the ends of the axis. */
export function pan(window: KeyWindow, share: number): KeyWindow {
  const size = window.to - window.from;
  return bounded(window.from + size * share, window.to + size * share);
}

/** The position on the key axis at share `x` of the window. */
export function positionAt({ from, to }: KeyWindow, x: number): number {
  return from + (to - from) * x;
}

/** The share of the window at a position. Below 0 and above 1 are outside. */
export function shareOf({ from, to }: KeyWindow, position: number): number {
  return (position - from) / (to - from);
}

export function isWhole({ from, to }: KeyWindow): boolean {
  return from <= 0 && to >= 1;
}

function bounded(from: number, to: number): KeyWindow {
  const size = Math.max(NARROWEST, to - from);
  if (size >= 1) return WHOLE;
  const start = Math.min(Math.max(0, from), 1 - size);
  // The server takes no position above 1, and sums of fractions are not exact.
  return { from: start, to: Math.min(1, start + size) };
}
