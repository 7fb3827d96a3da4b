/** Why etcd did not do what it was asked. */
export type EtcdError =
  /** It could not be reached, was too slow, or has no leader. What was asked may have been done all the same. */
  | { readonly kind: "EtcdUnavailable"; readonly reason: string }
  /** It understood and refused. `code` is gRPC's. */
  | { readonly kind: "EtcdRefused"; readonly code: number; readonly reason: string };

/** The gRPC code of something that is not there, such as a lease that has run out. */
export const NOT_FOUND = 5;
