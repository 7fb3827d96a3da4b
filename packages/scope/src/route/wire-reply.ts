import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { Routing } from "./routing.ts";

/** The address of a node for clients, as `host:port`; `undefined` if unknown. */
export type AddressOf = (node: string) => string | undefined;

/**
 * The reply to a client whose key is refused, without the sign and the line end that a transport adds.
 *
 *     MISDIRECTED writer is <host:port>
 *     QUIESCED <prefix> migrating to <host:port>
 *     UNAVAILABLE writer is <host:port>            (an addition)
 *
 * `undefined` for `Owned` and `Unknown`, which refuse nothing. A node without a known address is
 * named by its id. The reply is always one line, and prefix and address are one word each: everything
 * but visible ASCII is written `\xNN`, a backslash `\\`, a quote `\x22`, and an empty word `""`.
 */
export function renderReply(routing: Routing, addressOf: AddressOf): string | undefined {
  assertObject(routing, "routing");
  assert(typeof addressOf === "function", "addressOf must be a function");
  const addressWord = (node: string): string => word(encoder.encode(addressOf(node) ?? node));
  switch (routing.kind) {
    case "Owned":
    case "Unknown":
      return undefined;
    case "Misdirected":
      return `MISDIRECTED writer is ${addressWord(routing.target)}`;
    case "Quiesced":
      return `QUIESCED ${word(routing.prefix)} migrating to ${routing.address === undefined ? addressWord(routing.target) : word(encoder.encode(routing.address))}`;
    case "Unavailable":
      return `UNAVAILABLE writer is ${addressWord(routing.writer)}`;
  }
}

const encoder = new TextEncoder();

function word(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += visible(byte);
  return text === "" ? '""' : text;
}

function visible(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "\\") return "\\\\";
  const isPlain = byte > 0x20 && byte < 0x7f && character !== '"';
  return isPlain ? character : `\\x${byte.toString(16).padStart(2, "0")}`;
}
