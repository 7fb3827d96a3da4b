import { within, invalidField } from "@gossip/contracts/internal";
import { ok, type Redacted } from "@gossip/stdx";
import { INVALID, isObject, type FieldCodec, type HiddenFieldCodec } from "./field-codec.ts";

/** One codec for each field but `kind`. That of a redacted field must hide it. */
export type FieldCodecs<Fields> = {
  readonly [F in Exclude<keyof Fields, "kind">]: Fields[F] extends Redacted<unknown>
    ? HiddenFieldCodec<Fields[F]>
    : FieldCodec<Fields[F]>;
};

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
    show: (value) => {
      const row = rowOf(rows, value);
      if (row === undefined) return INVALID;
      const fields = Object.entries(row.codecs).map(([name, codec]) => `${name} ${codec.show(row.fields[name])}`);
      return fields.length === 0 ? row.kind : `${row.kind} (${fields.join(", ")})`;
    },

    encode: (value) => {
      const row = rowOf(rows, value);
      if (row === undefined) return INVALID;
      const json: Record<string, unknown> = { kind: row.kind };
      for (const [name, codec] of Object.entries(row.codecs)) {
        const value = codec.encode(row.fields[name]);
        if (value !== undefined) json[name] = value;
      }
      return json;
    },

    // What the row does not name is left behind.
    decode: (json, field) => {
      const row = rowOf(rows, json);
      if (row === undefined) return invalidField(within(field, "kind"), `one of ${Object.keys(rows).join(", ")}`);
      const fields: Record<string, unknown> = { kind: row.kind };
      for (const [name, codec] of Object.entries(row.codecs)) {
        const value = codec.decode(row.fields[name], within(field, name));
        if (!value.ok) return value;
        fields[name] = value.value;
      }
      return ok(build(fields as U));
    },
  };
}

function rowOf(rows: CodecTable, value: unknown) {
  if (!isObject(value)) return undefined;
  const kind = value["kind"];
  // `hasOwn`: a kind from outside may be called "toString".
  if (typeof kind !== "string" || !Object.hasOwn(rows, kind)) return undefined;
  return { kind, codecs: rows[kind]!, fields: value };
}
