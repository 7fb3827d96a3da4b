export { KeyAxis, KeyAxisBuilder } from "./axis/key-axis.ts";
export { keyPosition } from "./axis/key-position.ts";
export { heatMap, type HeatMap, type HeatQuery } from "./history/heat-map.ts";
export { HISTORY_SPACE, type HistoryWriter, type RunFigures } from "./history/history-notes.ts";
export {
  continueHistory,
  HistoryRecorder,
  readHistory,
  type HistoryRecorderOptions,
  type RunHistory,
} from "./history/history-recorder.ts";
export { historySeries, recentRate, type HistorySeries } from "./history/history-series.ts";
export type { LeaseEvent } from "./history/lease-log.ts";
export {
  leaseTimeline,
  type LeaseMark,
  type LeaseSpan,
  type SpanEnd,
  type WorkerTimeline,
} from "./history/lease-timeline.ts";
export { Rollups, TIERS, type RollupInput, type RollupStep, type Tier } from "./history/rollups.ts";
export type { HeatColumn } from "./history/heat-column.ts";
export { decodeKey, KEY_FORMS, parseKeyText, type DecodedKey } from "./keys/key-text.ts";
export { decodeUtf8, printable, printableText } from "./keys/printable.ts";
export { keyCodecOf, showKey, type KeyCodec } from "./keys/show-key.ts";
export { decodeTotalsToken, encodeTotalsToken, NO_ITEMS, type ItemTotals } from "./runs/item-totals.ts";
export { maskCommand, maskCredentials, maskedJson } from "./runs/mask-credentials.ts";
export { NO_LABEL, readRunLabel, type RunLabel } from "./runs/run-label.ts";
export { AXIS_BUCKETS, AxisBuckets, type BucketView, type LeafState } from "./sample/axis-buckets.ts";
export type { RunChange, RunChangeKind } from "./sample/run-change.ts";
export {
  sampleTotal,
  weighSample,
  type SampledRun,
  type SampleTotal,
  type WeighedLeaf,
} from "./sample/sample-totals.ts";
export { sampleShards, type ReadShards, type SampledLeaf, type SampleOptions } from "./sample/shard-sample.ts";
export { EvenSample, StripSketch } from "./sample/strip-sketch.ts";
export { HEAT_KEYS, leafStateOf, RunSampler, type RunSample, type SampledStates } from "./sample/run-sampler.ts";
