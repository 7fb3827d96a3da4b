// The vectors were computed with an independent BLAKE3. A hash that differs from them is another protocol: workers of
// two versions would derive two ids for one child. Do not mend a vector; give the domain a new version.
import { InvariantViolation } from "@gossip/stdx";
import { blake3 } from "@noble/hashes/blake3.js";
import { describe, expect, test } from "vitest";
import { ascii, filled, NOT_BYTES } from "../arbitraries.fixture.ts";
import { Cursor } from "../cursors/cursor.ts";
import { assertDomain, deriveKeyHasher, DOMAINS, type DomainHasher } from "./derive-key-hasher.ts";
import { encodeCursorInto } from "./encode-canonical.ts";
import { deriveSplitId, opPayloadHash } from "./golden.fixture.ts";
import { ParkReason } from "../states/park-reason.ts";
import fc from "fast-check";

describe("deriveKeyHasher", () => {
  test("gives the published digest", () => {
    const hasher = deriveKeyHasher("gossip/golden-64/v1");
    expect(hasher.hash64(ascii("deterministic golden vector"))).toBe(0x86659f9498143183n);
  });

  const context = ascii(DOMAINS.OP_PAYLOAD_V1);
  const expectSame = (hasher: DomainHasher, message: Uint8Array): void => {
    const digest = blake3(message, { context });
    expect(hasher.hash32(message)).toEqual(digest);
    expect(hasher.hash64(message)).toBe(Buffer.from(digest).readBigUInt64LE());
  };

  test("gives what the library gives, at every length around blocks and chunks", () => {
    const hasher = deriveKeyHasher(DOMAINS.OP_PAYLOAD_V1);
    for (let size = 0; size <= 1200; size++)
      expectSame(
        hasher,
        Uint8Array.from({ length: size }, (_, index) => index * 31 + size),
      );
    for (const size of [2047, 2048, 2049, 3072, 5000]) expectSame(hasher, filled(size, 0xa5));
  });

  test("gives that whatever was hashed before", () => {
    const hasher = deriveKeyHasher(DOMAINS.OP_PAYLOAD_V1);
    // Short and long ones take different ways, and both keep state.
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ minLength: 1000, maxLength: 5000, size: "max" }),
    );
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), (messages) => {
        for (const one of messages) expectSame(hasher, one);
      }),
      { numRuns: 50 },
    );
  });

  test("derives its key from domains of every allowed length", () => {
    const message = Uint8Array.of(1, 2, 3);
    for (let length = 11; length <= 64; length++) {
      const domain = "gossip/v1/x".padEnd(length, "y");
      expect(deriveKeyHasher(domain).hash32(message), domain).toEqual(blake3(message, { context: ascii(domain) }));
    }
  });

  test("hands out a digest that later hashes do not change", () => {
    const hasher = deriveKeyHasher(DOMAINS.SPLIT_ID_V1);
    const first = hasher.hash32(ascii("first"));
    const kept = first.slice();
    hasher.hash32(ascii("second"));
    expect(first).toEqual(kept);
  });

  test("separates domains", () => {
    const hashes = Object.values(DOMAINS).map((domain) => deriveKeyHasher(domain).hash64(ascii("same")));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("refuses what is not bytes, and hashes on afterwards", () => {
    const hasher = deriveKeyHasher("gossip/golden-64/v1");
    for (const bad of NOT_BYTES) {
      expect(() => hasher.hash32(bad as Uint8Array)).toThrow(InvariantViolation);
      expect(() => hasher.hash64(bad as Uint8Array)).toThrow(InvariantViolation);
    }
    expect(hasher.hash64(ascii("deterministic golden vector"))).toBe(0x86659f9498143183n);
  });
});

describe("domains", () => {
  test("have the values that stored hashes were made with", () => {
    expect(DOMAINS).toEqual({
      SPLIT_ID_V1: "gossip/coord/v1/split-id",
      OP_PAYLOAD_V1: "gossip/coord/v1/op-payload",
    });
  });

  test("are all different, and keep the rules", () => {
    const values = Object.values(DOMAINS);
    expect(new Set(values).size).toBe(values.length);
    for (const [name, value] of Object.entries(DOMAINS)) {
      expect(() => assertDomain(value)).not.toThrow();
      expect(value).toContain(`/v${/_V([0-9]+)$/.exec(name)![1]}`);
    }
  });

  test.each([
    { domain: 7, complaint: "must be a string" },
    { domain: "gossip/v1", complaint: "must have 11 to 64 characters, got 9" },
    { domain: `gossip/v1/${"a".repeat(55)}`, complaint: "must have 11 to 64 characters, got 65" },
    { domain: "gossip/coord/v1/Split", complaint: "must consist of lower-case letters" },
    { domain: "gossip/coord/v1/split id", complaint: "must consist of lower-case letters" },
    { domain: "other/coord/v1/split", complaint: "must start with 'gossip/'" },
    { domain: "gossip/coord/split", complaint: "must name its version" },
    { domain: "gossip/coord/vx/split", complaint: "must name its version" },
  ])("$domain is none: $complaint", ({ domain, complaint }) => {
    expect(() => assertDomain(domain)).toThrow(complaint);
    expect(() => deriveKeyHasher(domain as string)).toThrow(InvariantViolation);
  });

  test.each(["gossip/a/v1", `gossip/v1/${"a".repeat(54)}`])("%s is one", (domain) => {
    expect(() => assertDomain(domain)).not.toThrow();
  });
});

describe("golden vectors", () => {
  const split = { run: 1n, parent: 100n, op: 999n } as const;
  test.each([
    { kind: "Child", index: 0, id: 0xada8c6fca3894936n },
    { kind: "Child", index: 1, id: 0xac88444c76bdfa28n },
    { kind: "Child", index: 2, id: 0xd4688bee5d30fcbfn },
    { kind: "Residual", index: 0, id: 0xfea10675fdf78c46n },
    { kind: "Residual", index: 1, id: 0x918b665f51f8b5c3n },
  ] as const)("$kind $index of run 1, shard 100, op 999 is $id", ({ kind, index, id }) => {
    expect(deriveSplitId({ ...split, kind, index })).toBe(id);
  });

  test.each([
    { kind: "Residual", op: 77n, index: 0, id: 0xa279b1750d20f91an },
    { kind: "Child", op: 78n, index: 1, id: 0xecd9101282446c4fn },
    { kind: "Child", op: 78n, index: 2, id: 0xb7a8141691e7e8b5n },
  ] as const)("$kind $index of run 1, shard 10, op $op is $id", ({ kind, op, index, id }) => {
    expect(deriveSplitId({ run: 1n, parent: 10n, op, kind, index })).toBe(id);
  });

  const golden = Cursor.withLastKey(ascii("golden-cursor-key"));
  const withToken = Cursor.fromParts({ lastKey: ascii("k"), token: ascii("t") });
  test.each([
    { tag: "checkpoint", cursor: golden, hash: 0x0806b9d383fd8430n },
    { tag: "complete", cursor: golden, hash: 0x9a83e072185abf89n },
    { tag: "checkpoint", cursor: withToken, hash: 0x78551a45d737eb5an },
  ])("$tag with a cursor hashes to $hash", ({ tag, cursor, hash }) => {
    expect(opPayloadHash(tag, (out) => encodeCursorInto(cursor, out))).toBe(hash);
  });

  test("park hashes each reason to its own value", () => {
    const hashes = ParkReason.values.map((reason) => opPayloadHash("park", (out) => out.u8(ParkReason.codes[reason])));
    expect(hashes).toEqual([
      0xf89f1ca250f539e7n,
      0x80d61e1516ed67f2n,
      0xf0e5baaa11b56d8dn,
      0x2eb5b6c9c7097682n,
      0x144a0bc2dc9e976dn,
    ]);
  });

  test.each([
    { tag: "complete_run", hash: 0x4504ddc401c529bcn },
    { tag: "fail_run", hash: 0x3b55b6096e5f285dn },
    { tag: "cancel_run", hash: 0x1e938cd0f181e424n },
  ])("$tag hashes to $hash", ({ tag, hash }) => {
    expect(opPayloadHash(tag)).toBe(hash);
  });

  test("unpark hashes run and shard", () => {
    const hash = opPayloadHash("unpark_shard", (out) => {
      out.u64(1n);
      out.u64(10n);
    });
    expect(hash).toBe(0xa59a8785806704afn);
  });
});
