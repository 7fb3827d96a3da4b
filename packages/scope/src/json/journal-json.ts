import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject, encodeBase64Url } from "@gossip/stdx/internal";
import { count, id, list, object, oneOf, parseKind, prefix, type JsonObject } from "./json-shape.ts";
import type { JournalEntry } from "../move/journal-entry.ts";
import { finishedFromJson, migrationFromJson, migrationToJson } from "./migration-json.ts";
import type { CorruptJournal } from "../move/node-error.ts";
import type { NodeState } from "../move/node-state.ts";
import { prefixText, textBytes } from "../text-bytes.ts";
import { snapshotFromJson, snapshotToJson, tableFromJson, tableToJson } from "./snapshot-json.ts";

/** A journal entry as one line of JSON, without the line end. */
export function encodeJournalEntry(entry: JournalEntry): string {
  assertObject(entry, "a journal entry");
  return JSON.stringify(entryToJson(entry));
}

/**
 * The entries of a journal, one per line.
 *
 * Text after the last line end was not durable when the process crashed, and its effect was never
 * reported, so it is ignored. Any other line that cannot be read is corruption.
 */
export function decodeJournal(text: string): Result<JournalEntry[], CorruptJournal> {
  assert(typeof text === "string", "a journal must be text");
  const lines = text.split("\n").slice(0, -1);
  const entries: JournalEntry[] = [];
  for (const [position, line] of lines.entries()) {
    const entry = parseKind(ENTRIES, line);
    if (entry === undefined) return err({ kind: "CorruptJournal", position });
    entries.push(entry);
  }
  return ok(entries);
}

function entryToJson(entry: JournalEntry): JsonObject {
  switch (entry.kind) {
    case "Opened":
      return { ...entry, state: stateToJson(entry.state) };
    case "Drained":
      return entry;
    case "Started":
    case "Ended":
      return { ...entry, migration: migrationToJson(entry.migration) };
    case "Reloaded":
      return {
        kind: entry.kind,
        table: tableToJson(entry.table),
        epoch: entry.epoch,
        isForced: entry.isForced || undefined,
      };
    case "Adopted":
      return { ...entry, snapshot: snapshotToJson(entry.snapshot) };
  }
}

function stateToJson({ snapshot, drained, latest, floors, retired }: NodeState): JsonObject {
  return {
    snapshot: snapshotToJson(snapshot),
    drained: [...drained],
    latest: [...latest.values()].map(migrationToJson),
    floors: [...floors].map(([text, floor]) => ({ prefix: encodeBase64Url(textBytes(text)), floor })),
    retired: [...retired].map(([text, owner]) => ({ prefix: encodeBase64Url(textBytes(text)), owner })),
  };
}

const readState = object({
  snapshot: snapshotFromJson,
  drained: list(id),
  latest: list((item) => finishedFromJson(item) ?? migrationFromJson(item)),
  floors: list(object({ prefix, floor: count(0) })),
  retired: list(object({ prefix, owner: id })),
});

function stateFromJson(value: unknown): NodeState | undefined {
  const json = readState(value);
  return (
    json && {
      snapshot: json.snapshot,
      drained: new Set(json.drained),
      latest: new Map(json.latest.map((migration) => [prefixText(migration.prefix), migration])),
      floors: new Map(json.floors.map((item) => [prefixText(item.prefix), item.floor])),
      retired: new Map(json.retired.map((item) => [prefixText(item.prefix), item.owner])),
    }
  );
}

const ENTRIES = {
  Opened: object({ kind: oneOf("Opened"), state: stateFromJson }),
  Started: object({ kind: oneOf("Started"), migration: migrationFromJson }),
  Drained: object({ kind: oneOf("Drained"), id }),
  Ended: object({ kind: oneOf("Ended"), migration: finishedFromJson, epoch: count(1) }),
  Reloaded: object(
    { kind: oneOf("Reloaded"), table: tableFromJson, epoch: count(1), isForced: oneOf(true, false) },
    { isForced: false },
  ),
  Adopted: object({ kind: oneOf("Adopted"), snapshot: snapshotFromJson }),
};
