import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import type { Decision, Offer } from "../move/handover.ts";
import { object, oneOf, parseKind } from "./json-shape.ts";
import { finishedFromJson, migrationFromJson, migrationToJson } from "./migration-json.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { snapshotFromJson, snapshotToJson } from "./snapshot-json.ts";

/** What nodes send each other. */
export type Message = Offer | Decision | OwnershipSnapshot;

/** The text is not a message of this package. */
export interface MalformedMessage {
  readonly kind: "MalformedMessage";
}

/** A message as JSON, for any transport. */
export function encodeMessage(message: Message): string {
  assertObject(message, "a message");
  if (message instanceof OwnershipSnapshot)
    return JSON.stringify({ kind: "Snapshot", snapshot: snapshotToJson(message) });
  assert(
    message.kind === "Offer" || message.kind === "Decision",
    "a message must be an offer, a decision or a snapshot",
  );
  return JSON.stringify({ kind: message.kind, migration: migrationToJson(message.migration) });
}

/** Reads a message. Accepts any text: the sender may run another version, or not be a node at all. */
export function decodeMessage(text: string): Result<Message, MalformedMessage> {
  const message = typeof text === "string" ? fromText(text) : undefined;
  return message === undefined ? err({ kind: "MalformedMessage" }) : ok(message);
}

const READERS = {
  Offer: object({ kind: oneOf("Offer"), migration: migrationFromJson }),
  Decision: object({ kind: oneOf("Decision"), migration: finishedFromJson }),
  Snapshot: object({ kind: oneOf("Snapshot"), snapshot: snapshotFromJson }),
};

function fromText(text: string): Message | undefined {
  const message = parseKind(READERS, text);
  return message?.kind === "Snapshot" ? message.snapshot : message;
}
