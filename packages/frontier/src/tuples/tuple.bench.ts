import { decodeTuple, encodeTuple, type TupleElement } from "@gossip/frontier";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { pack, unpack, type TupleItem } from "fdb-tuple";

const uuid = new Uint8Array(16).fill(0x5a);

/** Each tuple as ours and as theirs, where whole numbers are the integers: its quickest form. */
const TUPLES: Readonly<Record<string, { readonly ours: TupleElement[]; readonly theirs: TupleItem[] }>> = {
  strings: { ours: ["eu-west-1", "accounts", "a1b2c3d4"], theirs: ["eu-west-1", "accounts", "a1b2c3d4"] },
  "long strings": { ours: ["x".repeat(200), "é".repeat(60)], theirs: ["x".repeat(200), "é".repeat(60)] },
  integers: { ours: [7n, -300n, 1_700_000_000_000n], theirs: [7, -300, 1_700_000_000_000] },
  "64-bit integers": { ours: [(1n << 63n) + 1n, -(1n << 60n)], theirs: [(1n << 63n) + 1n, -(1n << 60n)] },
  mixed: {
    ours: ["users", 42n, true, null, 1.5, { kind: "Uuid", bytes: uuid }, [uuid.subarray(0, 8), "a\0b"]],
    theirs: [
      "users",
      42,
      true,
      null,
      1.5,
      { type: "uuid", value: Buffer.from(uuid) },
      [Buffer.from(uuid.subarray(0, 8)), "a\0b"],
    ],
  },
};

for (const [name, { ours, theirs }] of Object.entries(TUPLES)) {
  const packed = pack(theirs);
  const encoded = unwrap(encodeTuple(ours));
  if (Buffer.compare(packed, encoded) !== 0) throw new Error(`the two disagree on ${name}`);
  compare(`encode a tuple of ${name}`, {
    forms: {
      encodeTuple: () => encodeTuple(ours),
      "fdb-tuple pack": () => pack(theirs),
    },
    bounds: [{ form: "encodeTuple", ratioAtMost: 1, toBestOf: ["fdb-tuple pack"] }],
  });
  compare(`decode a tuple of ${name}`, {
    forms: { decodeTuple: () => decodeTuple(encoded), "fdb-tuple unpack": () => unpack(packed) },
    bounds: [{ form: "decodeTuple", ratioAtMost: 1, toBestOf: ["fdb-tuple unpack"] }],
  });
}
