/** What each kind of failure carries. One entry here is one kind. */
interface CoreErrorFields {
  /** The allocator has no leadership: nothing may be granted or prepared. */
  NotLeader: object;
  /** The grant needs a millisecond above the durable bound. Extend the window, then ask again. */
  WindowExhausted: object;
  /** A grant holds 1 to `MAX_GRANT_COUNT` timestamps. */
  InvalidCount: { readonly count: number };
  /** A clock reading, a bound or a derived target that is not whole or does not fit 46 bits. */
  PhysicalMsOutOfRange: { readonly physicalMs: number };
  /** A counter that is not whole or does not fit 18 bits. */
  LogicalOutOfRange: { readonly logical: number };
  /** A range of counters that leaves its millisecond. */
  LogicalRangeOutOfRange: { readonly logicalStart: number; readonly count: number };
  /** A leadership whose durable bound lies below its first millisecond. */
  InvalidLeadershipWindow: { readonly floorMs: number; readonly ceilingMs: number };
  /** `max(floorMs, nowMs) + aheadMs` is no safe integer. Only an absurd `aheadMs` or clock does that. */
  WindowExtensionOverflow: { readonly floorMs: number; readonly nowMs: number; readonly aheadMs: number };
}

export type CoreErrorKind = keyof CoreErrorFields;

/** A failure of one of the given kinds; of any kind by default. */
export type CoreError<Kind extends CoreErrorKind = CoreErrorKind> = {
  [K in Kind]: { readonly kind: K } & CoreErrorFields[K];
}[Kind];

/** Why `seed` refused. */
export type SeedError = CoreError<"PhysicalMsOutOfRange" | "InvalidLeadershipWindow">;

/** Why a grant was refused, in the order in which it is checked. */
export type GrantError = CoreError<"InvalidCount" | "NotLeader" | "PhysicalMsOutOfRange" | "WindowExhausted">;

/** Why no extension could be prepared. */
export type PrepareError = CoreError<"NotLeader" | "WindowExtensionOverflow" | "PhysicalMsOutOfRange">;
