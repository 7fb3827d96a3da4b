import {
  ManifestId,
  ManifestRow,
  MetadataBuf,
  ShardHint,
  ShardHintView,
  ShardMetadata,
  ShardMetadataView,
} from "@gossip/frontier";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const HINTS: Readonly<Record<string, ShardHint>> = {
  Range: ShardHint.RANGE,
  Prefix: { kind: "Prefix", prefix: new TextEncoder().encode("logs/2026/11/16/") },
  Manifest: {
    kind: "Manifest",
    manifestId: ManifestId.fromRaw(0xfedc_ba98_7654_3210n),
    startRow: ManifestRow.fromRaw(16_000n),
    endRow: ManifestRow.fromRaw(32_000n),
  },
};

// JSON is given what is already safe for it, and asked for no bytes and no bigints back: less than the whole way.
for (const [kind, hint] of Object.entries(HINTS)) {
  const safe = ShardHint.toJson(hint);
  const text = JSON.stringify(safe);
  const encoded = unwrap(ShardHint.encode(hint));
  const out = new MetadataBuf();
  const view = new ShardHintView();
  compare(`encode a ${kind} hint`, {
    forms: {
      "ShardHint.encodeInto": () => ShardHint.encodeInto(hint, out),
      "ShardHint.encode": () => ShardHint.encode(hint),
      "JSON.stringify": () => JSON.stringify(safe),
    },
    bounds: [
      { form: "ShardHint.encodeInto", ratioAtMost: 1 / 5, toBestOf: ["JSON.stringify"] },
      { form: "ShardHint.encodeInto", heapBytesAtMost: 0 },
    ],
  });
  compare(`decode a ${kind} hint`, {
    forms: {
      "ShardHintView.decode": () => view.decode(encoded),
      "ShardHint.decode": () => ShardHint.decode(encoded),
      "JSON.parse": () => JSON.parse(text) as unknown,
    },
    bounds: [
      { form: "ShardHintView.decode", ratioAtMost: 1 / 5, toBestOf: ["JSON.parse"] },
      { form: "ShardHintView.decode", heapBytesAtMost: 0 },
    ],
  });
}

for (const [kind, hint] of Object.entries(HINTS)) {
  const metadata: ShardMetadata = { hint, connectorExtra: new TextEncoder().encode("bucket=a") };
  const safe = ShardMetadata.toJson(metadata);
  const text = JSON.stringify(safe);
  const encoded = unwrap(ShardMetadata.encode(metadata));
  const out = new MetadataBuf();
  const view = new ShardMetadataView();
  compare(`encode metadata with a ${kind} hint`, {
    forms: {
      "ShardMetadata.encodeInto": () => ShardMetadata.encodeInto(metadata, out),
      "ShardMetadata.encode": () => ShardMetadata.encode(metadata),
      "JSON.stringify": () => JSON.stringify(safe),
    },
    bounds: [
      { form: "ShardMetadata.encodeInto", ratioAtMost: 1 / 5, toBestOf: ["JSON.stringify"] },
      { form: "ShardMetadata.encodeInto", heapBytesAtMost: 0 },
    ],
  });
  compare(`decode metadata with a ${kind} hint`, {
    forms: {
      "ShardMetadataView.decode": () => view.decode(encoded),
      "ShardMetadata.decode": () => ShardMetadata.decode(encoded),
      "JSON.parse": () => JSON.parse(text) as unknown,
    },
    bounds: [
      { form: "ShardMetadataView.decode", ratioAtMost: 1 / 5, toBestOf: ["JSON.parse"] },
      { form: "ShardMetadataView.decode", heapBytesAtMost: 0 },
    ],
  });
}
