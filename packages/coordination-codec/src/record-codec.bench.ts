// What one record costs on its way to a store and back, beside what Node offers for the same. The JSON form is the
// record with bigints as hex and bytes as base64url: JSON itself has neither. What is encoded is a shard that goes on, one operation
// after the other, as it does in life: the same record again and again would only show that its log is known.
import { deserialize, serialize } from "node:v8";
import { toJsonSafe } from "@gossip/contracts";
import { decodeRunHead, decodeRunRecord, decodeShardRecord, encodeShardRecord } from "@gossip/coordination-codec";
import {
  encodeRunRecordInto,
  encodeShardRecordInto,
  RecordWriter,
  ShardEncoder,
} from "@gossip/coordination-codec/internal";
import { compare } from "@gossip/tools/bench";
import { activeRun, BUSY_SHARD, FRESH_SHARD, goingOn } from "./samples.fixture.ts";

const STEPS = 1024;
const out = new RecordWriter();
const encoder = new ShardEncoder();

for (const [name, record, steps] of [
  ["fresh", FRESH_SHARD, [FRESH_SHARD]],
  ["held, full log", BUSY_SHARD, goingOn(BUSY_SHARD, STEPS)],
] as const) {
  const stepOf = (call: number) => steps[call % steps.length]!;
  const blob = encodeShardRecord(record);
  const safe = toJsonSafe(record);
  const json = JSON.stringify(safe);
  const serialized = serialize(record);
  const sizes = `${blob.length} B; JSON ${json.length} B; v8 ${serialized.length} B`;

  compare(`encode a shard's record, ${name} (${sizes})`, {
    forms: {
      encodeShardRecordInto: (call: number) => {
        out.reset();
        encodeShardRecordInto(stepOf(call), out);
        return out.length;
      },
      "ShardEncoder, after the record before": (call: number) => {
        out.reset();
        encoder.encodeInto(stepOf(call + steps.length - 1), stepOf(call), out);
        return out.length;
      },
      encodeShardRecord: (call: number) => encodeShardRecord(stepOf(call)),
      "JSON.stringify of its JSON form": () => JSON.stringify(safe),
      "v8.serialize": () => serialize(record),
      structuredClone: () => structuredClone(record),
    },
    bounds: [
      {
        form: "encodeShardRecordInto",
        ratioAtMost: 1 / 2,
        toBestOf: ["JSON.stringify of its JSON form", "v8.serialize", "structuredClone"],
      },
      { form: "encodeShardRecord", ratioAtMost: 1, toBestOf: ["v8.serialize", "structuredClone"] },
      { form: "encodeShardRecordInto", heapBytesAtMost: 0 },
    ],
  });

  compare(`decode a shard's record, ${name}`, {
    forms: {
      decodeShardRecord: () => decodeShardRecord(blob),
      "JSON.parse to its JSON form": () => JSON.parse(json) as unknown,
      "v8.deserialize": () => deserialize(serialized) as unknown,
      structuredClone: () => structuredClone(record),
    },
    // Not held against JSON.parse, which is left with texts where the others have integers and bytes.
    bounds: [{ form: "decodeShardRecord", ratioAtMost: 1, toBestOf: ["v8.deserialize", "structuredClone"] }],
  });
}

const run = activeRun(1000);
out.reset();
encodeRunRecordInto(run, out);
const runBlob = out.toOwned();
const runSafe = toJsonSafe(run);
const runJson = JSON.stringify(runSafe);

compare(`a run's record, 1,000 shards (${runBlob.length} B; JSON ${runJson.length} B)`, {
  forms: {
    encodeRunRecordInto: () => {
      out.reset();
      encodeRunRecordInto(run, out);
      return out.length;
    },
    decodeRunRecord: () => decodeRunRecord(runBlob),
    decodeRunHead: () => decodeRunHead(runBlob),
    "JSON.stringify of its JSON form": () => JSON.stringify(runSafe),
    "JSON.parse to its JSON form": () => JSON.parse(runJson) as unknown,
  },
  bounds: [
    { form: "encodeRunRecordInto", ratioAtMost: 1, toBestOf: ["JSON.stringify of its JSON form"] },
    { form: "decodeRunHead", ratioAtMost: 1 / 3, toBestOf: ["decodeRunRecord"] },
  ],
});
