import { ok, type Result } from "@gossip/stdx";
import { JsonReader, type InvalidField, type JsonFieldReaders } from "./json-reader.ts";
import { jsonError, type JsonSafe } from "./json-safe.ts";

/** Converts a value to JSON and back. */
export interface JsonCodec<T, Json = JsonSafe<T>> {
  toJson(value: T): Json;
  /** Accepts any result of `JSON.parse`. */
  fromJson(json: unknown): Result<T, InvalidField>;
}

/** The fields of each kind of `E`. */
type VariantReaders<E extends { readonly kind: string }> = {
  readonly [K in E["kind"]]: JsonFieldReaders<Omit<Extract<E, { readonly kind: K }>, "kind">>;
};

/** The reader of a union on `kind`. A kind or a field that is missing from the table does not compile. */
export function variantReader<E extends { readonly kind: string }>(kinds: VariantReaders<E>): JsonReader<E> {
  const readKind = JsonReader.oneOf(Object.keys(kinds) as E["kind"][]);
  const readHead = JsonReader.object<{ readonly kind: E["kind"] }>({ kind: readKind });
  return (json, field) => {
    const head = readHead(json, field);
    if (!head.ok) return head;
    const { kind } = head.value;
    const readFields: JsonReader<object> = JsonReader.object(kinds[kind] as JsonFieldReaders<object>);
    const fields = readFields(json, field);
    return fields.ok ? ok(jsonError({ kind, ...fields.value }) as unknown as E) : fields;
  };
}
