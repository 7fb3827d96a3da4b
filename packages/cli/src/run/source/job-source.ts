import type { Item, Source } from "@gossip/worker";

/** A source, with what the command needs to know about its items. */
export interface JobSource {
  readonly source: Source;
  /** The same for the same source on every machine. Contains no credentials. */
  readonly identity: string;
  /** The value of `{}`. */
  readonly argumentOf: (item: Item) => Uint8Array;
  /** The fields of a result record that identify the item. */
  readonly fieldsOf: (item: Item) => Record<string, unknown>;
  /** The item as a process of `--pipe` gets it. Default: `fieldsOf`. */
  readonly itemJson?: (item: Item) => Record<string, unknown>;
}
