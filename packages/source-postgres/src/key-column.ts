/** How the values of a key column become tuple elements. `time` and `date` become integers, `numeric` becomes bytes. */
export type KeyKind = "integer" | "text" | "uuid" | "bytes" | "boolean" | "time" | "date" | "numeric";

/** A column of the key. */
export interface KeyColumn {
  readonly name: string;
  readonly kind: KeyKind;
  /** The type that its values are cast to. */
  readonly sqlType: string;
  /** Whether comparisons need `COLLATE "C"` to be by bytes. */
  readonly needsCollation: boolean;
}

const KINDS: Readonly<Record<string, KeyKind>> = {
  int2: "integer",
  int4: "integer",
  int8: "integer",
  text: "text",
  varchar: "text",
  uuid: "uuid",
  bytea: "bytes",
  bool: "boolean",
  timestamptz: "time",
  timestamp: "time",
  date: "date",
  numeric: "numeric",
};

/** The kind of a PostgreSQL type; `undefined` if no tuple element sorts like it. */
export function kindOf(typeName: string): KeyKind | undefined {
  return Object.hasOwn(KINDS, typeName) ? KINDS[typeName] : undefined;
}

/** The range of an integer column. */
export function integerLimits({ sqlType }: KeyColumn): { readonly min: bigint; readonly max: bigint } {
  const bits = sqlType === "int2" ? 15n : sqlType === "int4" ? 31n : 63n;
  return { min: -(1n << bits), max: (1n << bits) - 1n };
}
