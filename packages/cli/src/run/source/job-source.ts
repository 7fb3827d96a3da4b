import type { Item, Source } from "@gossip/worker";

/** A source with what the command needs to know of its items. */
export interface JobSource {
  readonly source: Source;
  /** Equal for equal sources on every machine; without credentials. */
  readonly identity: string;
  /** What `{}` stands for. */
  readonly argumentOf: (item: Item) => Uint8Array;
  /** What a result's record says of its item. */
  readonly fieldsOf: (item: Item) => Record<string, unknown>;
}
