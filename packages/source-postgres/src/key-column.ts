/** What a part of a primary key is in a tuple key. */
export type KeyKind = "integer" | "text" | "uuid" | "bytes" | "boolean";

/** A column of a primary key. */
export interface KeyColumn {
  readonly name: string;
  readonly kind: KeyKind;
  /** The type that values of it are cast to. */
  readonly sqlType: string;
  /** Whether it must be told to compare by bytes, because by itself it would not. */
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
};

/** How a type of the server goes into a tuple key, or `undefined` where it does not: its order is not that of any tuple element. */
export function kindOf(typeName: string): KeyKind | undefined {
  return Object.hasOwn(KINDS, typeName) ? KINDS[typeName] : undefined;
}

/** What an integer column can hold. */
export function integerLimits({ sqlType }: KeyColumn): { readonly min: bigint; readonly max: bigint } {
  const bits = sqlType === "int2" ? 15n : sqlType === "int4" ? 31n : 63n;
  return { min: -(1n << bits), max: (1n << bits) - 1n };
}
