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
   * In key order, without overlaps. Keys that no span covers are unknown: they may hold any number of items. A source
   * that knows that nothing is below its first item or above its last has spans without items there, up to the bounds
   * of its plan. Items are assumed to lie evenly within a span, by their keys read as numbers, so a source returns
   * narrow spans where it has many items.
   */
  readonly spans: readonly WorkSpan[];
  /**
   * Whether the items of each span were counted. What is left then is what was counted less what is done. Otherwise (the
   * default) it is what the spans say about the keys after the cursors, corrected by what was found before them.
   */
  readonly isExact?: boolean;
}

export interface EstimateRequest {
  readonly signal: AbortSignal;
}
