import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject, encodeBase64Url } from "@gossip/stdx/internal";
import { readCount, readId, readList, readObject, readPrefix, type JsonObject } from "./json-shape.ts";
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
    const entry = entryFromLine(line);
    if (entry === undefined) return err({ kind: "CorruptJournal", position });
    entries.push(entry);
  }
  return ok(entries);
}

function entryFromLine(line: string): JournalEntry | undefined {
  try {
    return entryFromJson(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function entryToJson(entry: JournalEntry): JsonObject {
  switch (entry.kind) {
    case "Opened":
      return { kind: entry.kind, state: stateToJson(entry.state) };
    case "Started":
      return { kind: entry.kind, migration: migrationToJson(entry.migration) };
    case "Drained":
      return entry;
    case "Ended":
      return { kind: entry.kind, migration: migrationToJson(entry.migration), epoch: entry.epoch };
    case "Reloaded":
      return {
        kind: entry.kind,
        table: tableToJson(entry.table),
        epoch: entry.epoch,
        ...(entry.isForced ? { isForced: true } : {}),
      };
    case "Adopted":
      return { kind: entry.kind, snapshot: snapshotToJson(entry.snapshot) };
  }
}

function entryFromJson(value: unknown): JournalEntry | undefined {
  const json = readObject(value, ["kind", "state", "migration", "id", "epoch", "table", "isForced", "snapshot"]);
  if (json === undefined) return undefined;
  switch (json["kind"]) {
    case "Opened": {
      const state = stateFromJson(json["state"]);
      return state && { kind: "Opened", state };
    }
    case "Started": {
      const migration = migrationFromJson(json["migration"]);
      return migration && { kind: "Started", migration };
    }
    case "Drained": {
      const id = readId(json["id"]);
      return id === undefined ? undefined : { kind: "Drained", id };
    }
    case "Ended": {
      const migration = finishedFromJson(json["migration"]);
      const epoch = readCount(json["epoch"], 1);
      return migration === undefined || epoch === undefined ? undefined : { kind: "Ended", migration, epoch };
    }
    case "Reloaded": {
      const table = tableFromJson(json["table"]);
      const epoch = readCount(json["epoch"], 1);
      const isForced = json["isForced"] ?? false;
      return table === undefined || epoch === undefined || typeof isForced !== "boolean"
        ? undefined
        : { kind: "Reloaded", table, epoch, isForced };
    }
    case "Adopted": {
      const snapshot = snapshotFromJson(json["snapshot"]);
      return snapshot && { kind: "Adopted", snapshot };
    }
    default:
      return undefined;
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

function stateFromJson(value: unknown): NodeState | undefined {
  const json = readObject(value, ["snapshot", "drained", "latest", "floors", "retired"]);
  if (json === undefined) return undefined;
  const snapshot = snapshotFromJson(json["snapshot"]);
  const drained = readList(json["drained"], readId);
  const latest = readList(json["latest"], (item) => finishedFromJson(item) ?? migrationFromJson(item));
  const floors = readList(json["floors"], floorFromJson);
  const retired = readList(json["retired"], retiredFromJson);
  if (
    snapshot === undefined ||
    drained === undefined ||
    latest === undefined ||
    floors === undefined ||
    retired === undefined
  )
    return undefined;
  return {
    snapshot,
    drained: new Set(drained),
    latest: new Map(latest.map((migration) => [prefixText(migration.prefix), migration])),
    floors: new Map(floors),
    retired: new Map(retired),
  };
}

function floorFromJson(value: unknown): [string, number] | undefined {
  const json = readObject(value, ["prefix", "floor"]);
  const prefix = readPrefix(json?.["prefix"]);
  const floor = readCount(json?.["floor"], 0);
  return prefix === undefined || floor === undefined ? undefined : [prefixText(prefix), floor];
}

function retiredFromJson(value: unknown): [string, string] | undefined {
  const json = readObject(value, ["prefix", "owner"]);
  const prefix = readPrefix(json?.["prefix"]);
  const owner = readId(json?.["owner"]);
  return prefix === undefined || owner === undefined ? undefined : [prefixText(prefix), owner];
}
