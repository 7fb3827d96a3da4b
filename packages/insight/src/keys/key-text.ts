import {
  decodeManifestRowKey,
  decodeTuple,
  encodeTuple,
  ManifestId,
  ManifestRow,
  ManifestRowKey,
  encodeKey,
  frontierErrorMessage,
  type TupleElement,
} from "@gossip/frontier";
import { err, ok, type Result } from "@gossip/stdx";
import { printable, printableText } from "./printable.ts";

/** The ways to write a key. */
export const KEY_FORMS = {
  path: { example: "path:logs/2026/01", means: "text, as it is: paths and lines" },
  hex: { example: "hex:6c6f6773", means: "any bytes, as hexadecimal digits" },
  b64: { example: "b64:bG9ncw", means: "any bytes, in base64url" },
  row: { example: "row:7/1000", means: "a manifest's row: its id, its row" },
  tuple: { example: 'tuple:["eu",42]', means: "a tuple as JSON; a number without a point is an integer" },
} as const;

/** Matches strings too, so that digits inside a string are not taken for a number. */
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const MAX_DEPTH = 1000;

const FORMS = Object.keys(KEY_FORMS).join(":, ");

/** Parse a key as users write it. Without a form it is text. The error is a sentence for the user. */
export function parseKeyText(text: string): Result<Uint8Array, string> {
  const [, form = "path", rest = text] = /^(path|hex|b64|row|tuple):([^]*)$/.exec(text) ?? [];
  switch (form) {
    case "hex":
      if (!/^(?:[0-9a-f]{2})*$/i.test(rest))
        return err("the key after hex: is not an even number of hexadecimal digits: write two a byte.");
      return ok(Buffer.from(rest, "hex"));
    case "b64":
      return parseBase64url(rest);
    case "row":
      return parseRow(rest);
    case "tuple":
      return parseTuple(rest);
    default:
      return rest === ""
        ? err(`a key has at least one byte: write it as ${FORMS}: and something.`)
        : ok(Buffer.from(rest, "utf8"));
  }
}

function parseBase64url(text: string): Result<Uint8Array, string> {
  const bytes = Buffer.from(text, "base64url");
  // Node ignores invalid characters, so check that the bytes encode to the same text.
  return bytes.toString("base64url") === text
    ? ok(bytes)
    : err("the key after b64: is not base64url: write letters, digits, - and _ only, without padding.");
}

function parseRow(text: string): Result<Uint8Array, string> {
  const [, manifest, row] = /^(\d{1,20})\/(\d{1,20})$/.exec(text) ?? [];
  const [manifestId, rowId] = [
    ManifestId.tryFromRaw(BigInt(manifest ?? -1)),
    ManifestRow.tryFromRaw(BigInt(row ?? -1)),
  ];
  if (!manifestId.ok || !rowId.ok)
    return err("the key after row: is not MANIFEST/ROW: write two whole numbers, such as row:7/1000.");
  return ok(encodeKey(new ManifestRowKey({ manifestId: manifestId.value, row: rowId.value })));
}

function parseTuple(text: string): Result<Uint8Array, string> {
  const parts = tupleElements(text);
  if (parts === undefined)
    return err(
      'the key after tuple: is not a JSON array of strings, numbers, true, false, null and arrays: write tuple:["eu",42].',
    );
  const encoded = encodeTuple(parts);
  return encoded.ok ? ok(encoded.value) : err(`the tuple cannot be a key: ${frontierErrorMessage(encoded.error)}.`);
}

/** The elements of a tuple in JSON, or `undefined` if the text is not valid. */
function tupleElements(text: string): TupleElement[] | undefined {
  // JSON.parse loses how a number was written, so mark the tokens: s before a string, and an integer becomes a string
  // with i.
  const marked = text.replaceAll(TEXT_OR_NUMBER, (token) => {
    if (token.startsWith('"')) return `"s${token.slice(1)}`;
    return INTEGER.test(token) ? `"i${token}"` : token;
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(marked);
  } catch {
    return undefined;
  }
  return Array.isArray(parsed) ? elementsOf(parsed, 1) : undefined;
}

function elementsOf(values: readonly unknown[], depth: number): TupleElement[] | undefined {
  // Keys nest far less. This bounds the stack.
  if (depth > MAX_DEPTH) return undefined;
  const elements: TupleElement[] = [];
  for (const value of values) {
    const element = Array.isArray(value) ? elementsOf(value, depth + 1) : scalarOf(value);
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return elements;
}

function scalarOf(value: unknown): TupleElement | undefined {
  if (value === null || typeof value === "boolean") return value;
  // Too large for a double: JSON.parse rounds it to infinity.
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  return value.startsWith("i") ? BigInt(value.slice(1)) : value.slice(1);
}

export interface DecodedKey {
  readonly size: number;
  readonly hex: string;
  readonly text: string;
  /** Other readings of the bytes, if they match exactly. */
  readonly row: string | undefined;
  readonly tuple: string | undefined;
}

/** All readings of the bytes of a key. */
export function decodeKey(key: Uint8Array): DecodedKey {
  const row = decodeManifestRowKey(key);
  const tuple = decodeTuple(key);
  return {
    size: key.length,
    hex: Buffer.from(key).toString("hex"),
    text: printable(key),
    row: row === undefined ? undefined : `row:${row.manifestId}/${row.row}`,
    tuple: tuple.ok && tuple.value.length > 0 ? `tuple:${showTuple(tuple.value)}` : undefined,
  };
}

function showTuple(elements: readonly TupleElement[]): string {
  return `[${elements.map(showElement).join(",")}]`;
}

function showElement(element: TupleElement): string {
  if (element === null || typeof element === "boolean") return String(element);
  if (typeof element === "bigint") return String(element);
  if (typeof element === "number") return showDouble(element);
  if (typeof element === "string") return printableText(JSON.stringify(element)).replaceAll("\\\\", "\\");
  if (element instanceof Uint8Array) return `bytes(${Buffer.from(element).toString("hex")})`;
  if (Array.isArray(element)) return showTuple(element);
  return `uuid(${Buffer.from((element as { bytes: Uint8Array }).bytes).toString("hex")})`;
}

/** With a point or an exponent, otherwise it would be read as an integer. */
function showDouble(value: number): string {
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
