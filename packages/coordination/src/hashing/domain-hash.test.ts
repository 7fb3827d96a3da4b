// Our own BLAKE3 stands in for the library's on nearly every operation. Were it to differ for one length, a
// retry after an upgrade would be refused as a conflict, and a repeated split would name other shards.

import { deriveKeyHasher } from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHUNK_SIZE, domainHash64 } from "./domain-hash.ts";

const DOMAIN = "gossip/test/v1/chunk";

describe("domainHash64", () => {
  test("agrees with the library at every length of a chunk and beyond", () => {
    const ours = domainHash64(DOMAIN);
    const library = deriveKeyHasher(DOMAIN);
    const message = Uint8Array.from({ length: CHUNK_SIZE + 130 }, (_, index) => (index * 131 + (index >> 3)) & 0xff);

    for (let length = 0; length <= message.length; length++) {
      const part = message.subarray(0, length);
      expect(ours.hash(part), `${length} bytes`).toBe(library.hash64(part));
    }
  });

  test("agrees with the library on any bytes", () => {
    const ours = domainHash64(DOMAIN);
    const library = deriveKeyHasher(DOMAIN);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (message) => {
        expect(ours.hash(message)).toBe(library.hash64(message));
      }),
    );
  });

  test("derives its key from domains of every allowed length", () => {
    const message = Uint8Array.of(1, 2, 3);
    for (let length = 11; length <= 64; length++) {
      const domain = "gossip/v1/x".padEnd(length, "y");
      expect(domainHash64(domain).hash(message), domain).toBe(deriveKeyHasher(domain).hash64(message));
    }
  });

  test("two domains do not share state", () => {
    const a = domainHash64("gossip/test/v1/a");
    const b = domainHash64("gossip/test/v1/b");
    const message = Uint8Array.of(7);
    const before = a.hash(message);

    expect(b.hash(message)).not.toBe(before);
    expect(a.hash(message)).toBe(before);
  });

  test("a long message leaves nothing behind for a short one", () => {
    const ours = domainHash64(DOMAIN);
    const short = Uint8Array.of(1);
    const before = ours.hash(short);
    ours.hash(new Uint8Array(CHUNK_SIZE).fill(0xff));
    expect(ours.hash(short)).toBe(before);
  });

  test("the published vector", () => {
    const golden = domainHash64("gossip/golden-64/v1");
    expect(golden.hash(new TextEncoder().encode("deterministic golden vector"))).toBe(0x86659f9498143183n);
  });
});
