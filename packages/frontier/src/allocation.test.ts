// These run for every item of every shard. What they leave on the heap, the collector takes away while a worker should be renewing its
// lease. The bound is that of noise: a view is 96 bytes, a boxed number 16.
import { ShardSpec } from "@gossip/contracts";
import { heapBytesPerCall } from "@gossip/tools/heap";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test, vi } from "vitest";
import { byteMidpointInto } from "./arithmetic/byte-midpoint.ts";
import { decodeConnectorExtraInto, decodeHintInto, decodeMetadataInto } from "./hints/decode-metadata.ts";
import { manifestHint } from "./hints/hints.fixture.ts";
import { KeyBuf } from "./keys/key-buf.ts";
import type { KeyEncoding } from "./keys/key-encoding.ts";
import { keySuccessorInto, prefixSuccessorInto } from "./arithmetic/successors.ts";
import { ascii, filled, hex, join } from "./keys.fixture.ts";
import { ManifestRowKey } from "./keys/manifest-row-key.ts";
import { MetadataBuf } from "./hints/metadata-buf.ts";
import { PathKey } from "./keys/path-key.ts";
import { ShardHintView } from "./hints/shard-hint-view.ts";
import { ShardHint } from "./hints/shard-hint.ts";
import { ShardMetadataView } from "./hints/shard-metadata-view.ts";
import { ShardMetadata } from "./hints/shard-metadata.ts";
import { TupleKey } from "./tuples/tuple-key.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const NOISE_BYTES = 4;

/** Bytes that a call leaves, in a loop of its own: one shared by all would call through a closure that cannot be inlined. */
function expectSilent(run: (calls: number) => void, calls = 10_000): void {
  expect(heapBytesPerCall(run, calls)).toBeLessThan(NOISE_BYTES);
}

const out = new KeyBuf();
const metadataOut = new MetadataBuf();
const shortKeys = [ascii("logs/2026/11/16"), hex("61ffff"), ascii("a")];
const longKeys = [filled(4096), join(filled(4000), filled(96, 0xff)), filled(300)];

describe.each([
  { name: "short keys", keys: shortKeys, calls: 10_000 },
  { name: "long keys", keys: longKeys, calls: 2000 },
])("key arithmetic on $name allocates nothing", ({ keys, calls: callCount }) => {
  test("prefixSuccessorInto", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) prefixSuccessorInto(keys[call % 3]!, out);
    }, callCount);
  });

  test("keySuccessorInto", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) keySuccessorInto(keys[call % 3]!, out);
    }, callCount);
  });

  test("byteMidpointInto", () => {
    const ends = keys.map((key) => join(key.subarray(0, key.length >> 1), hex("ff")));
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) byteMidpointInto(keys[call % 3]!, ends[call % 3]!, out);
    }, callCount);
  });

  test("byteMidpointInto of neighbors, and of what has no midpoint", () => {
    const next = keys.map((key) => join(key, hex("00")));
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) {
        byteMidpointInto(keys[call % 3]!, next[call % 3]!, out);
        byteMidpointInto(next[call % 3]!, keys[call % 3]!, out);
      }
    }, callCount);
  });
});

test("arithmetic on a view of its own buffer allocates nothing", () => {
  out.copyFromSlice(ascii("logs/2026"));
  const view = out.asBytes();
  const end = ascii("m");
  expectSilent((calls) => {
    for (let call = 0; call < calls; call++) {
      prefixSuccessorInto(view, out);
      byteMidpointInto(view, end, out);
    }
  });
});

describe("encoding keys allocates nothing", () => {
  const keys: [string, KeyEncoding][] = [
    ["PathKey", new PathKey("logs/2026/11/16/é")],
    ["ManifestRowKey", new ManifestRowKey({ manifestId: 0xfedcba9876543210n, row: 7n })],
    ["TupleKey", new TupleKey(["users", 42n, true])],
  ];
  test.each(keys)("%s", (_name, key) => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) key.encodeInto(out);
    });
  });
});

describe("hints and metadata allocate nothing", () => {
  const hints: ShardHint[] = [
    ShardHint.RANGE,
    { kind: "Prefix", prefix: ascii("logs/2026/") },
    manifestHint(0xfedcba9876543210n, 16n, 1n << 63n),
  ];
  const connectorExtra = ascii("twelve bytes");
  const metadata = hints.map((hint) => ({ hint, connectorExtra }));
  const encodedHints = hints.map((hint) => unwrap(ShardHint.encode(hint)));
  const specs = metadata.map((one) =>
    ShardSpec.withRangeAndMetadata({ start: ascii("a"), end: ascii("b"), metadata: unwrap(ShardMetadata.encode(one)) }),
  );
  let kept = 0;

  test("ShardHint.encodeInto", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) kept += Number(ShardHint.encodeInto(hints[call % 3]!, metadataOut).ok);
    });
  });

  test("ShardMetadata.encodeInto", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++)
        kept += Number(ShardMetadata.encodeInto(metadata[call % 3]!, metadataOut).ok);
    });
  });

  test("ShardHintView.decode", () => {
    const view = new ShardHintView();
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++)
        kept += Number(view.decode(encodedHints[call % 3]!).ok) + view.consumed + view.kind.length;
    });
  });

  test("decodeHintInto", () => {
    const view = new ShardHintView();
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++) kept += Number(decodeHintInto(specs[call % 3]!, view).ok);
    });
  });

  test("decodeMetadataInto", () => {
    const view = new ShardMetadataView();
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++)
        kept += Number(decodeMetadataInto(specs[call % 3]!, view).ok) + view.connectorExtraSize;
    });
  });

  test("decodeConnectorExtraInto", () => {
    expectSilent((calls) => {
      for (let call = 0; call < calls; call++)
        kept += Number(decodeConnectorExtraInto(specs[call % 3]!, metadataOut).ok);
    });
    expect(kept).toBeGreaterThan(0);
  });
});

test("the measure sees a view, so silence means something", () => {
  const bytesPerCall = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) out.asBytes();
  });
  expect(bytesPerCall).toBeGreaterThan(8 * NOISE_BYTES);
});
