import type { Result } from "@gossip/stdx";
import type { KeyKind } from "@gossip/source-postgres";
import type { Item, Source } from "@gossip/worker";
import type { CliError } from "../../output/cli-error.ts";

export interface PrepareRequest {
  /** The list of the run, if it was started before. */
  readonly list: string | undefined;
  readonly signal?: AbortSignal;
}

/** A source, with what the command needs to know about its items. */
export interface JobSource {
  readonly source: Source;
  /** The same for the same source on every machine. Contains no credentials. */
  readonly identity: string;
  /** The value of `{}`. */
  readonly argumentOf: (item: Item) => Uint8Array;
  /** Check that a program which opens the item by its name gets the item, before it gets the name. Rejects otherwise. */
  readonly checkName?: (item: Item) => Promise<void>;
  /** The fields of a result record that identify the item. */
  readonly fieldsOf: (item: Item) => Record<string, unknown>;
  /** The item as a process of `--pipe` gets it. Default: `fieldsOf`. */
  readonly itemJson?: (item: Item) => Record<string, unknown>;
  /** What the columns of a table's key are, once the table has been looked up. */
  keyKinds?(): readonly KeyKind[] | undefined;
  /** Store the items of the run, or find them again, before anything is read. Returns the name of the list, or `Aborted`. */
  prepare?(request: PrepareRequest): Promise<Result<string, CliError>>;
  /** Whether the items of a new run are piped in. */
  readonly isPiped?: boolean;
  /** The run is done, and nothing of it will be tried again. */
  discard?(): Promise<void>;
}
