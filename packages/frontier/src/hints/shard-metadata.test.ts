// Metadata is stored beside every shard and read by every worker. An envelope that is accepted although it is broken hands a
// connector bytes that are not its own; one that is refused although it is sound strands the shard.
import { MAX_METADATA_SIZE, ShardSpec } from "@gossip/contracts";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  decodeConnectorExtra,
  decodeConnectorExtraInto,
  decodeHint,
  decodeHintInto,
  decodeMetadata,
  decodeMetadataInto,
} from "./decode-metadata.ts";
import { anyMetadata, manifestHint } from "./hints.fixture.ts";
import { ascii, bytes, denseKey, filled, hex, join, NOT_BYTES } from "../keys.fixture.ts";
import { MetadataBuf } from "./metadata-buf.ts";
import { ShardHintView } from "./shard-hint-view.ts";
import { ShardHint } from "./shard-hint.ts";
import { ShardMetadataView } from "./shard-metadata-view.ts";
import { ShardMetadata } from "./shard-metadata.ts";
import { readVectors } from "../wire-vectors.fixture.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

/** All ways to encode, checked to agree. */
function encode(metadata: ShardMetadata): ReturnType<typeof ShardMetadata.encode> {
  const encoded = ShardMetadata.encode(metadata);
  const out = new MetadataBuf();
  out.copyFromSlice(ascii("before"));
  const into = ShardMetadata.encodeInto(metadata, out);
  const length = ShardMetadata.encodedLength(metadata);
  if (encoded.ok) {
    expect(into.ok && out.toOwned()).toEqual(encoded.value);
    expect(length).toEqual({ ok: true, value: encoded.value.length });
  } else {
    expect([into, length]).toEqual([encoded, encoded]);
    expect(out.toOwned()).toEqual(ascii("before"));
  }
  return encoded;
}

/** All ways to decode, of bytes and of a spec, checked to agree. */
function decode(metadata: Uint8Array): ReturnType<typeof ShardMetadata.decode> {
  const decoded = ShardMetadata.decode(metadata);
  const spec = { keyRangeStart: bytes(), keyRangeEnd: bytes(), metadata };
  const [view, specView, hintView, extra] = [
    new ShardMetadataView(),
    new ShardMetadataView(),
    new ShardHintView(),
    new MetadataBuf(),
  ];
  extra.copyFromSlice(ascii("before"));
  const looked = view.decode(metadata);
  const helped = [
    decodeMetadataInto(spec, specView),
    decodeHintInto(spec, hintView),
    decodeConnectorExtraInto(spec, extra),
  ];
  if (decoded.ok) {
    const { hint, connectorExtra } = decoded.value;
    expect([looked.ok, ...helped.map((result) => result.ok)]).toEqual([true, true, true, true]);
    expect([view.toOwned(), specView.toOwned()]).toEqual([decoded.value, decoded.value]);
    expect([view.connectorExtra, view.connectorExtraSize]).toEqual([connectorExtra, connectorExtra.length]);
    expect([hintView.toOwned(), hintView.consumed]).toEqual([hint, view.hint.consumed]);
    expect(extra.toOwned()).toEqual(connectorExtra);
    expect([decodeMetadata(spec), decodeHint(spec), decodeConnectorExtra(spec)]).toEqual([
      decoded,
      { ok: true, value: hint },
      { ok: true, value: connectorExtra },
    ]);
  } else {
    expect([looked, ...helped]).toEqual([decoded, decoded, decoded, decoded]);
    expect([decodeMetadata(spec), decodeHint(spec), decodeConnectorExtra(spec)]).toEqual([decoded, decoded, decoded]);
    expect(extra.toOwned()).toEqual(ascii("before"));
    expect([view.hint.kind, view.connectorExtraSize]).toEqual(["Range", 0]);
  }
  return decoded;
}

/** `Prefix 6162`, `Manifest 1, 2 to 3`, `Range`: as the page writes hints. */
function readHintCell(cell: string): ShardHint {
  const [, kind, rest = ""] = /^(\w+) ?(.*)$/.exec(cell)!;
  if (kind === "Prefix") return { kind, prefix: hex(rest) };
  if (kind !== "Manifest") return ShardHint.RANGE;
  const [id, start, end] = rest.split(/, | to /);
  return manifestHint(BigInt(id!), BigInt(start!), BigInt(end!));
}

describe("ShardMetadata", () => {
  test.each(readVectors("### Metadata vectors"))("%s and [%s] is %s", (hint, extra, envelope) => {
    const metadata = { hint: readHintCell(hint), connectorExtra: hex(extra) };
    expect(unwrap(encode(metadata))).toEqual(hex(envelope));
    expect(decode(hex(envelope))).toEqual({ ok: true, value: metadata });
  });

  test.each(readVectors("### Malformed metadata"))("%s is refused: %s %s", (envelope, hintError) => {
    const expected = { kind: "MalformedMetadata", hintError: hintError === "" ? undefined : JSON.parse(hintError) };
    const decoded = decode(hex(envelope));
    expect(decoded.ok || JSON.parse(JSON.stringify(decoded.error))).toEqual(expected);
  });

  test("shard metadata encode decode roundtrip", () => {
    const metadata = { hint: manifestHint(1n, 2n, 3n), connectorExtra: ascii("x") };
    const encoded = unwrap(encode(metadata));
    expect(encoded).toEqual(hex("00000019 02 0000000000000001 0000000000000002 0000000000000003 78"));
    expect(unwrap(decode(encoded))).toEqual(metadata);
  });

  test("shard metadata proptest roundtrip", () => {
    fc.assert(
      fc.property(anyMetadata, (metadata) => {
        expect(decode(unwrap(encode(metadata)))).toEqual({ ok: true, value: metadata });
      }),
      { numRuns: 500 },
    );
  });

  test("shard metadata decode empty defaults to range hint", () => {
    expect(decode(bytes())).toEqual({ ok: true, value: { hint: { kind: "Range" }, connectorExtra: bytes() } });
    expect(ShardMetadata.fromHint(ShardHint.RANGE)).toEqual({ hint: { kind: "Range" }, connectorExtra: bytes() });
    const view = new ShardMetadataView();
    unwrap(view.decode(hex("00000019 02 0000000000000001 0000000000000002 0000000000000003 78")));
    unwrap(view.decode(bytes()));
    expect([view.hint.kind, view.hint.consumed, view.connectorExtraSize]).toEqual(["Range", 0, 0]);
  });

  test("shard metadata decode rejects non empty non conforming input", () => {
    for (const envelope of ["00", "0000", "000000", "0000000200", "000000020000", "ffffffff00"]) {
      expect(decode(hex(envelope))).toEqual({ ok: false, error: { kind: "MalformedMetadata", hintError: undefined } });
    }
    expect(decode(ascii("anything a connector once stored")).ok).toBe(false);
  });

  test("shard metadata encode rejects oversized payload", () => {
    const room = MAX_METADATA_SIZE - 5;
    expect(unwrap(encode({ hint: ShardHint.RANGE, connectorExtra: filled(room) })).length).toBe(MAX_METADATA_SIZE);
    expect(encode({ hint: ShardHint.RANGE, connectorExtra: filled(room + 1) })).toEqual({
      ok: false,
      error: { kind: "MetadataTooLarge", size: MAX_METADATA_SIZE + 1, max: MAX_METADATA_SIZE },
    });
  });

  test("what is wrong with the hint by itself comes first", () => {
    const extra = filled(MAX_METADATA_SIZE);
    const tooLarge = encode({ hint: { kind: "Prefix", prefix: filled(MAX_METADATA_SIZE) }, connectorExtra: extra });
    expect(tooLarge).toMatchObject({ error: { kind: "HintTooLarge", size: MAX_METADATA_SIZE + 5 } });
    expect(encode({ hint: manifestHint(1n, 3n, 2n), connectorExtra: extra })).toMatchObject({
      error: { kind: "InvertedManifestRows" },
    });
    // A hint that fits alone and not in its envelope is too large as metadata.
    const whole = encode({ hint: { kind: "Prefix", prefix: filled(MAX_METADATA_SIZE - 5) }, connectorExtra: bytes() });
    expect(whole).toMatchObject({ error: { kind: "MetadataTooLarge", size: MAX_METADATA_SIZE + 4 } });
  });

  test("every byte string is metadata or an error, and metadata encodes to what it was decoded from", () => {
    const framed = fc
      .tuple(fc.nat(30), fc.constantFrom(0, 1, 2, 3), fc.uint8Array({ maxLength: 34 }))
      .map(([declared, tag, rest]) => join(bytes(0, 0, 0, declared, tag), rest));
    const nearly = fc.tuple(anyMetadata, fc.nat(3), fc.integer({ min: -1, max: 1 })).map(([metadata, at, delta]) => {
      const encoded = unwrap(ShardMetadata.encode(metadata));
      encoded[at]! += delta;
      return encoded;
    });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), framed, nearly), (data) => {
        const decoded = decode(data);
        if (!decoded.ok) return;
        const again = unwrap(encode(decoded.value));
        // No bytes stand for a range hint, and they are the one envelope that nothing encodes to.
        if (data.length > 0) expect(again).toEqual(data);
      }),
      { numRuns: 3000 },
    );
  });

  test("bytes that are encoded into a buffer may be views of it", () => {
    const hint = denseKey({ max: 3 });
    fc.assert(
      fc.property(denseKey({ min: 12, max: 12 }), fc.nat(9), fc.nat(9), hint, (content, prefixAt, extraAt, size) => {
        const out = new MetadataBuf();
        out.copyFromSlice(content);
        const prefix = out.asBytes().subarray(prefixAt, prefixAt + size.length);
        const connectorExtra = out.asBytes().subarray(extraAt, extraAt + 3);
        const metadata: ShardMetadata = { hint: { kind: "Prefix", prefix }, connectorExtra };
        const expected = unwrap(ShardMetadata.encode(metadata));
        unwrap(ShardMetadata.encodeInto(metadata, out));
        expect(out.toOwned()).toEqual(expected);
      }),
    );
  });

  test("decoded metadata owns its bytes", () => {
    const envelope = hex("00000007 01 00000002 6162 78");
    const decoded = unwrap(ShardMetadata.decode(envelope));
    envelope.fill(0);
    expect(decoded).toEqual({ hint: { kind: "Prefix", prefix: ascii("ab") }, connectorExtra: ascii("x") });
  });

  test("comes back from JSON as it was", () => {
    fc.assert(
      fc.property(anyMetadata, (metadata) => {
        const text = JSON.stringify(ShardMetadata.toJson(metadata));
        expect(ShardMetadata.fromJson(JSON.parse(text))).toEqual({ ok: true, value: metadata });
      }),
    );
    expect(ShardMetadata.fromJson({ hint: { kind: "Range" } })).toMatchObject({ error: { field: "connectorExtra" } });
    expect(ShardMetadata.fromJson({ hint: { kind: "Rows" }, connectorExtra: "" })).toMatchObject({
      error: { field: "hint.kind" },
    });
    const tooLong = {
      hint: { kind: "Range" },
      connectorExtra: Buffer.from(filled(MAX_METADATA_SIZE)).toString("base64url"),
    };
    expect(ShardMetadata.fromJson(tooLong)).toMatchObject({ error: { kind: "MetadataTooLarge" } });
  });

  test("what is no metadata is refused with a sentence", () => {
    for (const value of [undefined, null, 7, {}, { hint: ShardHint.RANGE }, { hint: {}, connectorExtra: bytes() }]) {
      expect(() => ShardMetadata.encode(value as ShardMetadata)).toThrow(InvariantViolation);
      expect(() => ShardMetadata.toJson(value as ShardMetadata)).toThrow(/must be/);
      expect(() => ShardMetadata.fromHint(value as never)).toThrow("hint must be of kind");
    }
    expect(() => ShardMetadata.encodeInto(ShardMetadata.fromHint(ShardHint.RANGE), {} as MetadataBuf)).toThrow(
      "out must be a MetadataBuf",
    );
    for (const value of NOT_BYTES) {
      expect(() => ShardMetadata.decode(value as Uint8Array)).toThrow("metadata must be a Uint8Array");
      expect(() => new ShardMetadataView().decode(value as Uint8Array)).toThrow("metadata must be a Uint8Array");
    }
  });
});

describe("decode helpers", () => {
  test("decode helpers propagate malformed metadata errors", () => {
    const broken = ShardSpec.withRangeAndMetadata({ start: ascii("a"), end: ascii("b"), metadata: hex("00000001 07") });
    const refused = { ok: false, error: { kind: "MalformedMetadata", hintError: { kind: "UnknownTag", tag: 7 } } };
    expect(decodeMetadata(broken)).toEqual(refused);
    expect(decodeHint(broken)).toEqual(refused);
    expect(decodeConnectorExtra(broken)).toEqual(refused);
    expect(decodeMetadataInto(broken, new ShardMetadataView())).toEqual(refused);
    expect(decodeHintInto(broken, new ShardHintView())).toEqual(refused);
    expect(decodeConnectorExtraInto(broken, new MetadataBuf())).toEqual(refused);
  });

  test("a failed look leaves what it should have written as it was", () => {
    const good = ShardSpec.withRangeAndMetadata({
      start: ascii("a"),
      end: ascii("b"),
      metadata: hex("00000007 01 00000002 6162 78"),
    });
    const broken = ShardSpec.withRangeAndMetadata({
      start: ascii("a"),
      end: ascii("b"),
      metadata: hex("00000002 0000"),
    });
    const [view, hintView, extra] = [new ShardMetadataView(), new ShardHintView(), new MetadataBuf()];
    for (const spec of [good, broken]) {
      void decodeMetadataInto(spec, view);
      void decodeHintInto(spec, hintView);
      void decodeConnectorExtraInto(spec, extra);
    }
    expect([view.toOwned(), hintView.prefix, extra.toOwned()]).toEqual([
      unwrap(decodeMetadata(good)),
      ascii("ab"),
      ascii("x"),
    ]);
  });

  test("wrong arguments are refused with a sentence", () => {
    const spec = ShardSpec.unbounded();
    for (const value of [undefined, null, 7, {}]) {
      expect(() => decodeMetadata(value as never)).toThrow(InvariantViolation);
      expect(() => decodeHint(value as never)).toThrow(/must be/);
      expect(() => decodeMetadataInto(spec, value as never)).toThrow("out must be a ShardMetadataView");
      expect(() => decodeHintInto(spec, value as never)).toThrow("out must be a ShardHintView");
      expect(() => decodeConnectorExtraInto(spec, value as never)).toThrow("out must be a MetadataBuf");
    }
    const huge = { ...spec, metadata: join(hex("00000001 00"), filled(MAX_METADATA_SIZE)) };
    expect(() => decodeConnectorExtraInto(huge, new MetadataBuf())).toThrow(
      "metadata must be at most 16384 bytes, got 16389",
    );
  });
});
