import {
  Cursor,
  CursorSemantics,
  DERIVED_SHARD_BIT,
  MAX_KEY_SIZE,
  MAX_METADATA_SIZE,
  MAX_TOKEN_SIZE,
  ParkReason,
  RunStatus,
  ShardSpec,
  ShardStatus,
  TenantId,
  U64_MAX,
  type FenceEpoch,
  type LogicalTime,
  type OpId,
  type RunId,
  type ShardId,
  type WorkerId,
} from "@gossip/contracts";
import {
  OpKind,
  OpResult,
  RunOpKind,
  type LeaseHolder,
  type OpLogEntry,
  type PayloadHash,
  type RunConfig,
  type RunOpLogEntry,
  type RunRecord,
  type ShardRecord,
} from "@gossip/coordination";
import { compareBytes } from "@gossip/stdx";
import fc from "fast-check";

// Records that are in order, of every shape that the rules allow.

const u64 = (range: { readonly min?: bigint; readonly max?: bigint } = {}): fc.Arbitrary<bigint> => {
  const { min = 0n, max = U64_MAX } = range;
  const edges = [
    0n,
    1n,
    2n,
    0xffn,
    0x100n,
    0xffff_ffffn,
    1n << 32n,
    1n << 53n,
    DERIVED_SHARD_BIT,
    U64_MAX - 1n,
    U64_MAX,
  ];
  return fc.oneof(
    fc.bigInt({ min, max }),
    fc.constantFrom(min, max, ...edges.filter((edge) => edge >= min && edge <= max)),
  );
};

const u32 = fc.oneof(fc.nat({ max: 9 }), fc.constantFrom(0xff, 0x100, 0xffff_fffe, 0xffff_ffff));

// Mostly few byte values, so that keys are neighbors and prefixes of each other; sometimes as large as allowed.
const bytes = ({ min, max }: { readonly min: number; readonly max: number }): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc
        .array(fc.constantFrom(0x00, 0x61, 0x62, 0xff), { minLength: min, maxLength: 5 })
        .map((values) => Uint8Array.from(values)),
    },
    { weight: 3, arbitrary: fc.uint8Array({ minLength: min, maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom(0x00, 0xff).map((value) => new Uint8Array(max).fill(value)) },
  );

// Not without a prototype now and then, as fast-check has it: a record decodes to a plain object.
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true });

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

export const tenant: fc.Arbitrary<TenantId> = fc
  .oneof(
    fc.constantFrom(0, 1, 0xff).map((value) => new Uint8Array(32).fill(value)),
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
    // The same first byte, so that they share a slot of the table.
    fc.nat({ max: 3 }).map((last) => Uint8Array.of(...Array.from({ length: 31 }, () => 7), last)),
  )
  .map((value) => TenantId.fromBytes(value));

const rootId = u64({ max: DERIVED_SHARD_BIT - 1n }) as fc.Arbitrary<ShardId>;
const derivedId = u64({ min: DERIVED_SHARD_BIT }) as fc.Arbitrary<ShardId>;
const cursorSemantics = fc.constantFrom(...CursorSemantics.values);

const spec: fc.Arbitrary<ShardSpec> = fc
  .tuple(
    bytes({ min: 0, max: MAX_KEY_SIZE }),
    bytes({ min: 0, max: MAX_KEY_SIZE }),
    bytes({ min: 0, max: MAX_METADATA_SIZE }),
  )
  .map(([one, other, metadata]) => {
    const [start, end] = other.length > 0 && compareBytes(one, other) > 0 ? [other, one] : [one, other];
    const isEmpty = end.length > 0 && compareBytes(start, end) === 0;
    return ShardSpec.withRangeAndMetadata({ start, end: isEmpty ? new Uint8Array(0) : end, metadata });
  });

/** A cursor within the range. */
const cursorIn = (range: ShardSpec): fc.Arbitrary<Cursor> =>
  record({
    key: optional(bytes({ min: 1, max: MAX_KEY_SIZE })),
    token: optional(bytes({ min: 1, max: MAX_TOKEN_SIZE })),
  }).map(({ key, token }) => {
    const first = range.keyRangeStart.length > 0 ? range.keyRangeStart : undefined;
    const lastKey = key === undefined || ShardSpec.containsKey(range, key) ? key : first;
    return lastKey === undefined ? Cursor.initial() : Cursor.fromParts({ lastKey, token });
  });

/** The common fields of logged operations: distinct ids, a hash, and ascending times. */
const logged = (lastTime: bigint, maxLength: number) =>
  fc
    .uniqueArray(record({ opId: u64(), payloadHash: u64({ min: 1n }), executedAt: u64({ min: 1n, max: lastTime }) }), {
      selector: ({ opId }) => opId,
      maxLength,
      size: "max",
    })
    .map((entries) =>
      entries.toSorted((a, b) => (a.executedAt < b.executedAt ? -1 : a.executedAt > b.executedAt ? 1 : 0)),
    )
    .map((entries) => entries as { opId: OpId; payloadHash: PayloadHash; executedAt: LogicalTime }[]);

const opLog = (lastTime: bigint): fc.Arbitrary<OpLogEntry[]> =>
  logged(lastTime, 16).chain((entries) =>
    fc.tuple(
      ...entries.map((entry) =>
        record({ kind: fc.constantFrom(...OpKind.values), result: fc.constantFrom(...OpResult.values) }).map(
          (rest) => ({ ...entry, ...rest }),
        ),
      ),
    ),
  );

const lease = (lastTime: bigint): fc.Arbitrary<LeaseHolder> =>
  record({ owner: u64(), deadline: u64({ min: lastTime + 1n }), opId: u64() }).map((holder) => ({
    owner: holder.owner as WorkerId,
    deadline: holder.deadline as LogicalTime,
    opId: holder.opId as OpId,
  }));

const origin = fc.oneof(
  rootId.map((shard) => ({ shard, parent: undefined })),
  record({ shard: derivedId, parent: fc.oneof(rootId, derivedId) }),
);

/** Any shard's record that is in order. */
export const shardRecord: fc.Arbitrary<ShardRecord> = record({
  status: fc.constantFrom(...ShardStatus.values),
  lastTime: u64({ min: 1n, max: U64_MAX - 1n }),
  spec,
  origin,
}).chain(({ status, lastTime, spec: range, origin: { shard, parent } }) =>
  record({
    tenant,
    run: u64() as fc.Arbitrary<RunId>,
    shard: fc.constant(shard),
    status: fc.constant(status),
    parkReason: status === "Parked" ? fc.constantFrom(...ParkReason.values) : fc.constant(undefined),
    spec: fc.constant(range),
    cursor: cursorIn(range),
    cursorSemantics,
    lease: status === "Active" ? optional(lease(lastTime)) : fc.constant(undefined),
    fenceEpoch: u64({ min: 1n }) as fc.Arbitrary<FenceEpoch>,
    parent: fc.constant(parent),
    spawned: fc.uniqueArray(derivedId, { minLength: status === "Split" ? 1 : 0, maxLength: 12 }),
    opLog: opLog(lastTime),
    lastTime: fc.constant(lastTime as LogicalTime),
    attempts: u32,
  }),
);

const config: fc.Arbitrary<RunConfig> = record({
  cursorSemantics,
  leaseDuration: u64({ min: 1n }),
  maxShardRetries: optional(u32),
});

const runOpLog = (lastTime: bigint): fc.Arbitrary<RunOpLogEntry[]> =>
  logged(lastTime, 8).chain((entries) =>
    fc.tuple(...entries.map((entry) => fc.constantFrom(...RunOpKind.values).chain((kind) => runEntry(entry, kind)))),
  );

const runEntry = (
  entry: Pick<RunOpLogEntry, "opId" | "payloadHash" | "executedAt">,
  kind: RunOpKind,
): fc.Arbitrary<RunOpLogEntry> =>
  kind === "RegisterShards"
    ? fc
        .array(rootId, { maxLength: 4 })
        .map((shards) => ({ ...entry, kind, result: { kind: "RegisteredShards", shards } }))
    : fc.constant({ ...entry, kind, result: { kind: "Ack" } });

/** Any run's record that is in order. */
export const runRecord: fc.Arbitrary<RunRecord> = record({
  status: fc.constantFrom(...RunStatus.values),
  lastTime: u64({ min: 1n }),
})
  .chain(({ status, lastTime }) => fc.tuple(fc.constant({ status, lastTime }), u64({ min: 1n, max: lastTime })))
  .chain(([{ status, lastTime }, createdAt]) =>
    record({
      tenant,
      run: u64() as fc.Arbitrary<RunId>,
      config,
      status: fc.constant(status),
      createdAt: fc.constant(createdAt as LogicalTime),
      completedAt: RunStatus.isTerminal(status)
        ? (u64({ min: createdAt, max: lastTime }) as fc.Arbitrary<LogicalTime>)
        : fc.constant(undefined),
      rootShards:
        status === "Initializing"
          ? fc.constant([])
          : fc.uniqueArray(rootId, { minLength: status === "Active" ? 1 : 0, maxLength: 12 }),
      opLog: runOpLog(lastTime),
      lastTime: fc.constant(lastTime as LogicalTime),
    }),
  );
