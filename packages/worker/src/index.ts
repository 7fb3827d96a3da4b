export type { ShardSink, Sink, SinkRequest } from "./sink/sink.ts";
export type { SourceError, SourceErrorKind } from "./source/source-error.ts";
export type { Item, ItemBatch, ItemProblem, PlanRequest, ReadRequest, Source, SplitRequest } from "./source/source.ts";
