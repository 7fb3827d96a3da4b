// The page is what people write clients from. Tables that differ from the server send them the wrong way.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROTOCOL_ERRORS } from "../errors/protocol-error.ts";
import { ERROR_STATUS } from "../errors/status-of.ts";
import { OPERATION_NAMES, OPERATIONS, type OperationSpec } from "../table/operations.ts";
import { errorKindsOf } from "./make-open-api.ts";

const PAGE = new URL("../../../../docs/reference/protocol.md", import.meta.url);

function errorsTable(): string {
  const ours = Object.entries(PROTOCOL_ERRORS).map(
    ([kind, { status, advice, when }]) => `| \`${kind}\` | ${status} | \`${advice}\` | ${when} |`,
  );
  const rows = Object.entries(ERROR_STATUS).map(
    ([kind, status]) => `| \`${kind}\` | ${status} | | [errors.md](errors.md) |`,
  );
  return ["| `kind` | status | `advice` | when |", "| --- | --- | --- | --- |", ...ours, ...rows].join("\n");
}

function operationsTable(): string {
  const rows = OPERATION_NAMES.map((name) => {
    const { method, path, summary, role, shape }: OperationSpec = OPERATIONS[name];
    const errors = errorKindsOf(name).map((kind) => `\`${kind}\``);
    return `| \`${method} ${path}\`${shape === "batch" ? ", batched" : ""} | ${summary} | ${role} | ${errors.join(", ")} |`;
  });
  return ["| call | does | role | errors |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** Cells without the padding that a formatter adds. */
function cellsOf(table: string): string[] {
  return table
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .join("|"),
    );
}

const BLOCK = (name: string) => new RegExp(`(<!-- protocol: ${name} -->\n)[^]*?(<!-- /protocol -->)`);

test.each([
  ["errors", errorsTable()],
  ["operations", operationsTable()],
])("the table of %s is that of the code", (name, table) => {
  const text = readFileSync(PAGE, "utf8");
  if (process.env["GOSSIP_WRITE_DOCS"] === "1")
    writeFileSync(
      PAGE,
      text.replace(BLOCK(name), (_, open: string, close: string) => `${open}\n${table}\n\n${close}`),
    );
  const [block = ""] = BLOCK(name).exec(readFileSync(PAGE, "utf8")) ?? [];
  expect(cellsOf(block)).toEqual(cellsOf(table));
});
