import { err, ok, type Result } from "@gossip/stdx";
import { INVALID, invalid, isObject, type FieldCodec, type InvalidField } from "./field-codec.ts";

/** One codec for each field but `kind`. */
export type FieldCodecs<Fields> = { readonly [F in Exclude<keyof Fields, "kind">]: FieldCodec<Fields[F]> };

/** One row of codecs for each kind of a union. */
type VariantCodecs<U extends { readonly kind: string }> = {
  readonly [K in U["kind"]]: FieldCodecs<Extract<U, { readonly kind: K }>>;
};

type CodecTable = Readonly<Record<string, Readonly<Record<string, FieldCodec<unknown>>>>>;

/** Codec of a union on `kind`. People read `Kind (field value, …)`. */
export function variants<U extends { readonly kind: string }>(
  table: VariantCodecs<U>,
  /** Gives a decoded error whatever such an error has beyond its fields. */
  build: (fields: U) => U = (fields) => fields,
): FieldCodec<U> {
  const rows = table as CodecTable;
  return {
    show: (value) => showVariant(rows, value),
    encode: (value) => encodeVariant(rows, value),
    decode: (json, field) => {
      const fields = decodeVariant(rows, json, field);
      return fields.ok ? ok(build(fields.value as U)) : fields;
    },
  };
}

export function showVariant(rows: CodecTable, value: unknown): string {
  const row = rowOf(rows, value);
  if (row === undefined) return INVALID;
  const fields = Object.entries(row.codecs).map(([name, codec]) => `${name} ${codec.show(row.fields[name])}`);
  return fields.length === 0 ? row.kind : `${row.kind} (${fields.join(", ")})`;
}

export function encodeVariant(rows: CodecTable, value: unknown): unknown {
  const row = rowOf(rows, value);
  if (row === undefined) return INVALID;
  const json: Record<string, unknown> = { kind: row.kind };
  for (const [name, codec] of Object.entries(row.codecs)) {
    const value = codec.encode(row.fields[name]);
    if (value !== undefined) json[name] = value;
  }
  return json;
}

/** The fields with `kind` in a plain object. What the row does not name is left behind. */
export function decodeVariant(
  rows: CodecTable,
  json: unknown,
  field: string,
): Result<{ readonly kind: string }, InvalidField> {
  const row = rowOf(rows, json);
  if (row === undefined) return invalid(`${field}.kind`, `one of ${Object.keys(rows).join(", ")}`);
  const fields: Record<string, unknown> & { kind: string } = { kind: row.kind };
  for (const [name, codec] of Object.entries(row.codecs)) {
    const value = codec.decode(row.fields[name], field === "" ? name : `${field}.${name}`);
    if (!value.ok) return err(value.error);
    fields[name] = value.value;
  }
  return ok(fields);
}

function rowOf(rows: CodecTable, value: unknown) {
  if (!isObject(value)) return undefined;
  const kind = value["kind"];
  // `hasOwn`: a kind from outside may be called "toString".
  if (typeof kind !== "string" || !Object.hasOwn(rows, kind)) return undefined;
  return { kind, codecs: rows[kind]!, fields: value };
}
