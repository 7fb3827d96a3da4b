/** A part of the key space, and how many items the source expects there. */
export interface WorkSpan {
  readonly start: Uint8Array;
  /** Exclusive. Empty: no bound. */
  readonly end: Uint8Array;
  /** Finite and not negative. A fraction is fine: statistics rarely give whole numbers. */
  readonly items: number;
}

/** What a source knows about the number of its items and where they are. */
export interface WorkEstimate {
  /**
   * In key order, without overlaps. Keys that no span covers are unknown: they may hold any number of items. Items are
   * assumed to lie evenly within a span, by their keys read as numbers, so a source returns narrow spans where it has
   * many items.
   */
  readonly spans: readonly WorkSpan[];
}

export interface EstimateRequest {
  readonly signal: AbortSignal;
}
