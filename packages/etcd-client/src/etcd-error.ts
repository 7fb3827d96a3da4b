/**
 * Why etcd did not do what it was asked.
 *
 * Reasons are in words, etcd's or ours. They hold neither keys nor values, passwords nor tokens.
 */
export type EtcdError =
  /**
   * It could not be reached, was too slow, or has no leader.
   *
   * `mayBeDone`: the request was sent, so that what was asked may have been done all the same, now or a little later. Only where
   * it is false may a write be repeated without a look at what is there.
   */
  | { readonly kind: "EtcdUnavailable"; readonly reason: string; readonly mayBeDone: boolean }
  /** It understood and refused, and did nothing. `code` is gRPC's. */
  | { readonly kind: "EtcdRefused"; readonly code: number; readonly reason: string };

/** The codes of gRPC that a caller may want to tell apart. */
export const EtcdCode = {
  InvalidArgument: 3,
  /** What was asked for is not there, such as a lease that has run out. */
  NotFound: 5,
  PermissionDenied: 7,
  /** The server has run out of something: room on its disk, or patience. */
  ResourceExhausted: 8,
  /** A revision that was asked for is no longer kept. */
  OutOfRange: 11,
  Unauthenticated: 16,
} as const;

export type EtcdCode = (typeof EtcdCode)[keyof typeof EtcdCode];
