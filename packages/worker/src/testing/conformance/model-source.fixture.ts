import { MAX_KEY_SIZE, type ShardSpec } from "@gossip/contracts";
import { rangeShard, splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes, ok, unwrap } from "@gossip/stdx";
import type { ItemBatch, ItemProblem, PlanRequest, ReadRequest, Source, SplitRequest } from "../../sources/source.ts";
import type { EstimateRequest, WorkEstimate } from "../../sources/work-estimate.ts";
import type { SourceFixture } from "./source-fixture.ts";

const BATCH = 3;
export const START: Uint8Array = Uint8Array.of(0);
export const END: Uint8Array = Uint8Array.of(0xff, 0xff);

/** Keys that are prefixes and neighbors of each other, and a few ordinary ones. */
export const MODEL_KEYS: readonly Uint8Array[] = [
  [0x00],
  [0x00, 0x00],
  [0x00, 0xff],
  [0x61],
  [0x61, 0x00],
  [0x61, 0x00, 0x00],
  [0x61, 0x2f],
  [0x61, 0x2f, 0x62],
  [0x61, 0xff],
  [0x62],
  [0x62, 0x62],
  [0x63],
  [0x7a, 0x7a, 0x7a],
  [0xfe],
  [0xfe, 0xff],
  [0xff, 0x00],
].map((bytes) => Uint8Array.from(bytes));

/** A source over an array that keeps the contract. Faulty sources override one of its methods. */
export class ModelSource implements Source {
  readonly name: string = "model";
  openCount = 0;

  keys(): readonly Uint8Array[] {
    return MODEL_KEYS;
  }

  problems(): readonly ItemProblem[] {
    return [];
  }

  isInRange(key: Uint8Array, { range, after }: ReadRequest): boolean {
    if (compareBytes(key, range.start) < 0) return false;
    if (range.end.length > 0 && compareBytes(key, range.end) >= 0) return false;
    return after === undefined || compareBytes(key, after) > 0;
  }

  isStopped({ signal }: ReadRequest): boolean {
    return signal.aborted;
  }

  async plan({ shardCount }: PlanRequest): ReturnType<Source["plan"]> {
    const bounds = [START, ...splitPointsFromSamples({ start: START, end: END }, MODEL_KEYS, shardCount), END];
    return ok(this.shards(bounds));
  }

  shards(bounds: readonly Uint8Array[]): ShardSpec[] {
    return bounds.slice(1).map((end, index) => unwrap(rangeShard({ start: bounds[index]!, end })));
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch> {
    this.openCount++;
    try {
      const problems = this.problems().filter(({ key }) => this.isInRange(key, request));
      if (problems.length > 0) yield { items: [], problems };
      const keys = this.keys().filter((key) => this.isInRange(key, request));
      for (let index = 0; index < keys.length && !this.isStopped(request); index += BATCH) {
        yield { items: keys.slice(index, index + BATCH).map((key) => ({ key })) };
      }
    } finally {
      this.openCount--;
    }
  }

  async splitPoint(request: SplitRequest): Promise<Uint8Array | undefined> {
    const rest = MODEL_KEYS.filter((key) => this.isInRange(key, { ...request, signal: new AbortController().signal }));
    return rest.length < 2 ? undefined : rest[rest.length >> 1];
  }

  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    this.openCount++;
    try {
      const spans = MODEL_KEYS.map((start, index) => ({ start, end: MODEL_KEYS[index + 1] ?? END, items: 1 }));
      for (let count = 1; count <= spans.length; count++) {
        signal.throwIfAborted();
        yield { spans: spans.slice(0, count) };
      }
    } finally {
      this.openCount--;
    }
  }

  describeKey(key: Uint8Array): string {
    return Buffer.from(key).toString("hex");
  }

  async close(): Promise<void> {
    // It holds nothing open.
  }
}

export function fixtureOf(source: ModelSource): SourceFixture {
  return { source, keys: MODEL_KEYS, openHandleCount: () => source.openCount };
}

export const TOO_LONG: Uint8Array = new Uint8Array(MAX_KEY_SIZE + 1).fill(0x61);
