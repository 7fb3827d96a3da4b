import { decodeTuple, type TupleElement } from "@gossip/frontier";
import { ok, type Result } from "@gossip/stdx";
import type { RowItem } from "@gossip/source-postgres";
import { fail, type CliError } from "../../output/cli-error.ts";
import type { JobSource } from "./job-source.ts";
import type { Selection } from "./selection.ts";

const HOW =
  "write postgres://USER:PASSWORD@HOST/DATABASE#TABLE, or #SCHEMA.TABLE, with double quotes as in SQL if needed";

/** Open the rows of a table: `postgres://…/database#schema.table`. */
export async function openTable(
  text: string,
  { key, where, columns }: Selection,
): Promise<Result<JobSource, CliError>> {
  const { parseTableName, postgresTableSource, sqlTextOf } = await import("@gossip/source-postgres");
  const [, address = "", name = ""] = /^([^#]*)#([^]*)$/.exec(text) ?? [];
  const named = parseTableName(name);
  if (named === undefined) return fail("BadCommandLine", `the PostgreSQL source names no table: ${HOW}.`);
  const { schema, table } = named;
  if (!URL.canParse(address) || !/^postgres(?:ql)?:$/.test(new URL(address).protocol))
    return fail("BadCommandLine", `the PostgreSQL source is not a URL: ${HOW}.`);
  if ([schema ?? "", table].some((name) => Buffer.byteLength(name) > 63 || name.includes("\0")))
    return fail("BadCommandLine", `the name of the table is too long: ${HOW}.`);
  const { host, pathname } = new URL(address);
  const options = Object.entries({ schema, key, where, columns }).filter(([, value]) => value !== undefined);
  const source = postgresTableSource({ url: address, table, ...Object.fromEntries(options) });
  const keyJson = (bytes: Uint8Array): unknown => {
    const parts = decodeTuple(bytes);
    if (!parts.ok) return Buffer.from(bytes).toString("base64url");
    const kinds = source.keyKinds;
    return parts.value.map((element, index) => sqlTextOf(element, kinds?.[index]) ?? elementJson(element));
  };
  return ok({
    source,
    keyKinds: () => source.keyKinds,
    identity: `postgres:${host}${pathname}#${schema ?? "public"}.${table}`,
    argumentOf: (item) => Buffer.from(JSON.stringify(rowJson((item as RowItem).row))),
    fieldsOf: (item) => ({ key: keyJson(item.key) }),
    itemJson: (item) => ({ key: keyJson(item.key), row: rowJson((item as RowItem).row) }),
  });
}

/** A row as JSON: bytes as PostgreSQL writes them, dates in full. */
function rowJson(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value,
    ]),
  );
}

function elementJson(element: TupleElement): unknown {
  if (typeof element === "bigint") return Number.isSafeInteger(Number(element)) ? Number(element) : String(element);
  if (element instanceof Uint8Array) return Buffer.from(element).toString("base64url");
  if (Array.isArray(element)) return element.map(elementJson);
  if (typeof element === "object" && element !== null)
    return uuidText((element as { readonly bytes: Uint8Array }).bytes);
  return element;
}

function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
