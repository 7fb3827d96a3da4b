/**
 * Why a request to etcd failed.
 *
 * A reason is a short text from etcd or from this client. It never includes keys, values, passwords or tokens.
 */
export type EtcdError =
  /**
   * etcd could not be reached, was too slow, or has no leader.
   *
   * `mayBeDone` means that the outcome is unknown: the request was sent and may take effect, now or later. A write may
   * be repeated without reading first only if it is false.
   */
  | { readonly kind: "EtcdUnavailable"; readonly reason: string; readonly mayBeDone: boolean }
  /** etcd rejected the request and did nothing. `code` is gRPC's. */
  | { readonly kind: "EtcdRefused"; readonly code: number; readonly reason: string };

/** The gRPC codes that a caller may need to distinguish. */
export const EtcdCode = {
  InvalidArgument: 3,
  /** The requested object does not exist, such as an expired lease. */
  NotFound: 5,
  PermissionDenied: 7,
  /** The server has run out of a resource, such as disk space. */
  ResourceExhausted: 8,
  /** The requested revision has been compacted. */
  OutOfRange: 11,
  Unauthenticated: 16,
} as const;

export type EtcdCode = (typeof EtcdCode)[keyof typeof EtcdCode];
