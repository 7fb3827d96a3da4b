// The committed document is what other languages generate clients from. One that differs from the server misleads them.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorKindsOf, makeOpenApi } from "./make-open-api.ts";

const FILE = new URL("../../openapi.json", import.meta.url);

test("openapi.json is the table of operations", () => {
  const text = `${JSON.stringify(makeOpenApi(), undefined, 2)}\n`;
  if (process.env["GOSSIP_WRITE_DOCS"] === "1") writeFileSync(FILE, text);
  // Compared as values: a formatter may lay the file out in its own way.
  expect(JSON.parse(readFileSync(FILE, "utf8"))).toEqual(JSON.parse(text));
});

test("every reference leads to a schema", () => {
  const document = makeOpenApi() as { readonly components: { readonly schemas: Readonly<Record<string, unknown>> } };
  const references = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
  expect(references.length).toBeGreaterThan(10);
  for (const name of references) expect(Object.hasOwn(document.components.schemas, name)).toBe(true);
});

test("the errors of an operation come from the error table", () => {
  expect(errorKindsOf("renew")).toContain("StaleFence");
  expect(errorKindsOf("renew")).not.toContain("OpIdConflict");
  expect(errorKindsOf("timestamp")).toEqual([]);
});
