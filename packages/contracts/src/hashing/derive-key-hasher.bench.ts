import { Cursor } from "@gossip/contracts";
import { CanonicalWriter, deriveKeyHasher, DOMAINS, encodeCursorInto } from "@gossip/contracts/internal";
import { compare } from "@gossip/tools/bench";
import { blake3 } from "@noble/hashes/blake3.js";

// A checkpoint is hashed before anything else happens to it, so this is part of the shortest path there is.

const tag = new TextEncoder().encode("checkpoint");
const context = new TextEncoder().encode(DOMAINS.OP_PAYLOAD_V1);
const hasher = deriveKeyHasher(DOMAINS.OP_PAYLOAD_V1);
const writer = new CanonicalWriter();
const keyed = blake3.create({ context });
const scratch = keyed.clone();
const digest = new Uint8Array(8);

const cursors = {
  "a key of 32 bytes": Cursor.withLastKey(new Uint8Array(32).fill(0x61)),
  "a key of 128 bytes and a token of 512": Cursor.fromParts({
    lastKey: new Uint8Array(128).fill(0x61),
    token: new Uint8Array(512).fill(0x62),
  }),
};

for (const [name, cursor] of Object.entries(cursors)) {
  const encode = (): Uint8Array => {
    writer.reset();
    writer.fixedBytes(tag);
    encodeCursorInto(cursor, writer);
    return writer.view();
  };
  const payload = encode().slice();

  compare(`hash of a checkpoint, ${name}`, {
    forms: {
      "encode + hash64": () => hasher.hash64(encode()),
      hash64: () => hasher.hash64(payload),
      "the library, from a kept state": () => keyed._cloneInto(scratch).update(payload).xofInto(digest),
      "the library, afresh": () => blake3(payload, { context }),
    },
    bounds: [{ form: "encode + hash64", ratioAtMost: 0.6, toBestOf: ["the library, from a kept state"] }],
  });
}
