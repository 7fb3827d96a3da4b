import { printable } from "./printable.ts";
import { decodeKey } from "./key-text.ts";

/** How the keys of a source are encoded. `undefined` if that is not known. */
export type KeyCodec = "path" | "row" | "tuple" | undefined;

/** By the beginning of a source's identity, which every run records. */
const CODECS: Readonly<Record<string, KeyCodec>> = {
  fs: "path",
  lines: "row",
  list: "row",
  postgres: "tuple",
  s3: "path",
};

/** Text that `parseKeyText` would read as another form. */
const HAS_FORM = /^(?:path|hex|b64|row|tuple):/;

/** The codec of a source, given its identity, such as `fs:/data`. */
export function keyCodecOf(source: string | undefined): KeyCodec {
  const kind = /^([a-z0-9]+):/.exec(source ?? "")?.[1];
  return kind !== undefined && Object.hasOwn(CODECS, kind) ? CODECS[kind] : undefined;
}

/** A key for people, in the form of its source. Bytes that do not have that form are shown in hexadecimal. */
export function showKey(key: Uint8Array | undefined, codec: KeyCodec): string {
  if (key === undefined || key.length === 0) return "";
  const { hex, row, tuple } = decodeKey(key);
  const shown = codec === "row" ? row : codec === "tuple" ? tuple : codec === "path" ? pathText(key) : undefined;
  return shown ?? `hex:${hex}`;
}

function pathText(key: Uint8Array): string | undefined {
  const text = printable(key);
  const isText = key.every((byte) => byte >= 0x20 && byte !== 0x7f) && !text.includes("\\x");
  if (!isText) return undefined;
  return HAS_FORM.test(text) ? `path:${text}` : text;
}
