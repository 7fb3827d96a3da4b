/**
 * A slab has no room for what was asked of it. Nothing has changed; free something, or ask for less.
 */
export interface SlabFull {
  readonly kind: "SlabFull";
  /** The size class that was looked for, or 2^32 - 1 if no class is large enough. */
  readonly requested: number;
  /** The largest size class that can be allocated now; zero if none can. */
  readonly available: number;
}
