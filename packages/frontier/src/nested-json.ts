import type { InvalidField, JsonCodec } from "@gossip/contracts";
import type { JsonReader } from "@gossip/contracts/internal";
import { err } from "@gossip/stdx";

/** Reads an error nested in another. Paths in its errors start at the outermost field. */
export function nestedJson<T>(codec: Pick<JsonCodec<T, unknown>, "fromJson">): JsonReader<T> {
  return (json, field) => {
    const read = codec.fromJson(json);
    return read.ok ? read : err(nestIn(field, read.error));
  };
}

function nestIn(field: string, error: InvalidField): InvalidField {
  return { ...error, field: error.field === "" ? field : `${field}.${error.field}` };
}
