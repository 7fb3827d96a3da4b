import { decodeConnectorExtra } from "@gossip/frontier";
import type { ShardSpecRef } from "@gossip/contracts";
import { decodeUtf8 } from "../keys/printable.ts";
import { maskCommand } from "./mask-credentials.ts";

/** What a run is for, as the program that started it recorded with every shard. Holds no credentials. */
export interface RunLabel {
  readonly name: string | undefined;
  /** The identity of the source, such as `fs:/data`. It decides how keys are shown. */
  readonly source: string | undefined;
  /** The command for every item, or that of a long-lived process. */
  readonly exec: string | undefined;
  readonly module: string | undefined;
  readonly out: string | undefined;
}

export const NO_LABEL: RunLabel = {
  name: undefined,
  source: undefined,
  exec: undefined,
  module: undefined,
  out: undefined,
};

/** Read the label from a shard of a run. `NO_LABEL` if another program started the run. */
export function readRunLabel(spec: ShardSpecRef): RunLabel {
  const extra = decodeConnectorExtra(spec);
  const text = extra.ok ? decodeUtf8(extra.value) : undefined;
  if (text === undefined || !text.startsWith("{")) return NO_LABEL;
  try {
    const read = JSON.parse(text) as Record<string, unknown>;
    if (read["gossip"] !== 1) return NO_LABEL;
    const textOf = (name: string): string | undefined => (typeof read[name] === "string" ? read[name] : undefined);
    const exec = textOf("exec") ?? textOf("pipe");
    return {
      name: textOf("name"),
      source: textOf("source"),
      // Mask again: an earlier version masked less.
      exec: exec === undefined ? undefined : maskCommand(exec),
      module: textOf("module"),
      out: textOf("out"),
    };
  } catch {
    return NO_LABEL;
  }
}
