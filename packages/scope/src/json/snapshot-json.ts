import { encodeBase64Url } from "@gossip/stdx/internal";
import { count, id, list, object, oneOf, prefix, type JsonObject } from "./json-shape.ts";
import { MAX_SCOPES } from "../limits.ts";
import { finishedFromJson, migrationFromJson, migrationToJson } from "./migration-json.ts";
import { MigrationTable } from "../move/migration-table.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { indexOf, OwnershipTable } from "../table/ownership-table.ts";
import { prefixText } from "../text-bytes.ts";
import { prefixBytes, Scope } from "../table/scope.ts";

export function tableToJson(table: OwnershipTable): JsonObject {
  const scopes = indexOf(table).scopes.map((scope) => ({
    prefix: encodeBase64Url(prefixBytes(scope)),
    writer: scope.writer,
    fallback: scope.fallback,
  }));
  return { nested: table.nested, scopes };
}

const readTable = object({
  nested: oneOf("refuse", "longest"),
  scopes: list(object({ prefix, writer: id, fallback: id }, { fallback: undefined })),
});

export function tableFromJson(value: unknown): OwnershipTable | undefined {
  const json = readTable(value);
  if (json === undefined || json.scopes.length > MAX_SCOPES) return undefined;
  const table = OwnershipTable.build(
    json.scopes.map((scope) => new Scope(scope)),
    { nested: json.nested },
  );
  return table.ok ? table.value : undefined;
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

const readSnapshot = object({
  epoch: count(0),
  table: tableFromJson,
  live: list(migrationFromJson),
  migrated: list(finishedFromJson),
  finished: list(finishedFromJson),
});

export function snapshotFromJson(value: unknown): OwnershipSnapshot | undefined {
  const json = readSnapshot(value);
  if (json === undefined) return undefined;
  const { epoch, table, ...lists } = json;
  const index = indexOf(table);
  const isDeclared = lists.live.every(({ prefix }) => index.positionOf(prefix) >= 0);
  const isDistinct = new Set(lists.live.map(({ prefix }) => prefixText(prefix))).size === lists.live.length;
  if (!isDeclared || !isDistinct) return undefined;
  return new OwnershipSnapshot({ epoch, table, migrations: MigrationTable.from(lists) });
}
