import { encodeBase64Url } from "@gossip/stdx/internal";
import { readCount, readId, readList, readObject, readPrefix, type JsonObject } from "./json-shape.ts";
import { MAX_SCOPES } from "../limits.ts";
import { finishedFromJson, migrationFromJson, migrationToJson } from "./migration-json.ts";
import { MigrationTable } from "../move/migration-table.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { indexOf, OwnershipTable } from "../table/ownership-table.ts";
import { prefixText } from "../text-bytes.ts";
import { prefixBytes, Scope } from "../table/scope.ts";

export function tableToJson(table: OwnershipTable): JsonObject {
  const scopes = indexOf(table).scopes.map((scope) => {
    const { writer, fallback } = scope;
    return { prefix: encodeBase64Url(prefixBytes(scope)), writer, ...(fallback === undefined ? {} : { fallback }) };
  });
  return { nested: table.nested, scopes };
}

export function tableFromJson(value: unknown): OwnershipTable | undefined {
  const json = readObject(value, ["nested", "scopes"]);
  if (json === undefined) return undefined;
  const { nested, scopes: listed } = json as { nested?: unknown; scopes?: unknown };
  const scopes = readList(listed, scopeFromJson);
  if ((nested !== "refuse" && nested !== "longest") || scopes === undefined || scopes.length > MAX_SCOPES)
    return undefined;
  const table = OwnershipTable.build(scopes, { nested });
  return table.ok ? table.value : undefined;
}

function scopeFromJson(value: unknown): Scope | undefined {
  const json = readObject(value, ["prefix", "writer", "fallback"]);
  if (json === undefined) return undefined;
  const prefix = readPrefix(json["prefix"]);
  const writer = readId(json["writer"]);
  const fallback = readId(json["fallback"]);
  if (prefix === undefined || writer === undefined || (json["fallback"] !== undefined && fallback === undefined))
    return undefined;
  return new Scope({ prefix, writer, fallback });
}

export function snapshotToJson({ epoch, table, migrations }: OwnershipSnapshot): JsonObject {
  return {
    epoch,
    table: tableToJson(table),
    live: migrations.live().map(migrationToJson),
    migrated: migrations.migrated().map(migrationToJson),
    finished: migrations.finished().map(migrationToJson),
  };
}

export function snapshotFromJson(value: unknown): OwnershipSnapshot | undefined {
  const json = readObject(value, ["epoch", "table", "live", "migrated", "finished"]);
  if (json === undefined) return undefined;
  const epoch = readCount(json["epoch"], 0);
  const table = tableFromJson(json["table"]);
  const live = readList(json["live"], migrationFromJson);
  const migrated = readList(json["migrated"], finishedFromJson);
  const finished = readList(json["finished"], finishedFromJson);
  if (
    epoch === undefined ||
    table === undefined ||
    live === undefined ||
    migrated === undefined ||
    finished === undefined
  )
    return undefined;

  const index = indexOf(table);
  const isDeclared = live.every(({ prefix }) => index.positionOf(prefix) >= 0);
  const isDistinct = new Set(live.map(({ prefix }) => prefixText(prefix))).size === live.length;
  if (!isDeclared || !isDistinct) return undefined;
  return new OwnershipSnapshot({ epoch, table, migrations: MigrationTable.from({ live, migrated, finished }) });
}
