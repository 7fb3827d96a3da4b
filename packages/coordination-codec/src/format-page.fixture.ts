import { readFileSync } from "node:fs";

// docs/reference/record-format.md, taken apart.

const PAGE = readFileSync(new URL("../../../docs/reference/record-format.md", import.meta.url), "utf8");

/** A vector of the page: what the bytes are, field by field, and the record in JSON where they hold one. */
export interface Vector {
  readonly title: string;
  readonly blob: Uint8Array;
  readonly statedSize: number;
  readonly fields: readonly string[];
  readonly json: unknown;
}

export const VECTORS: readonly Vector[] = PAGE.split(/^### Vector: /m)
  .slice(1)
  .map(readVector);

/** The fields of a layout, in their order. */
export function layoutOf(kind: "Shard" | "Run" | "DeletedRun"): readonly string[] {
  return tableUnder(`## ${kind}`).map(([field]) => field!.replaceAll("`", ""));
}

/** The rows of the first table behind a heading, without its own. */
export function tableUnder(heading: string): readonly (readonly string[])[] {
  const lines = section(heading).split("\n");
  const first = lines.findIndex((line) => line.startsWith("| ---"));
  const rows = lines.slice(first + 1);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Bytes in hex, with blanks anywhere and `32 x 01` for thirty-two of them. */
export function bytesOf(hex: string): Uint8Array {
  const plain = hex
    .replaceAll(/(\d+) x ([0-9a-f]{2})/g, (_, count: string, byte: string) => byte.repeat(Number(count)))
    .replaceAll(" ", "");
  return new Uint8Array(Buffer.from(plain, "hex"));
}

function section(heading: string): string {
  const start = PAGE.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`the page has no heading "${heading}"`);
  return PAGE.slice(start);
}

function readVector(text: string): Vector {
  const [, title, size] = /^(.+), (\d+) bytes$/m.exec(text)!;
  const rows = block(text, "text")!
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  const json = block(text.split("\n#")[0]!, "json");
  return {
    title: title!,
    blob: bytesOf(rows.map(([hex]) => hex).join(" ")),
    statedSize: Number(size),
    fields: rows.map(([, field]) => field!),
    json: json === undefined ? undefined : (JSON.parse(json) as unknown),
  };
}

function block(text: string, language: string): string | undefined {
  return new RegExp(`^\`\`\`${language}\\n([^]*?)\\n\`\`\`$`, "m").exec(text)?.[1];
}
