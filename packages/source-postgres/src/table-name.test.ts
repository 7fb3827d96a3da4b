// A name that is read differently from what its owner wrote means another table.
import { describe, expect, test } from "vitest";
import { parseTableName } from "./table-name.ts";

describe("parseTableName", () => {
  test.each([
    ["orders", { table: "orders" }],
    ["Orders", { table: "Orders" }],
    ["shop.orders", { schema: "shop", table: "orders" }],
    ['"My Table"', { table: "My Table" }],
    ['shop."a.b"', { schema: "shop", table: "a.b" }],
    ['"my schema"."say ""hi"""', { schema: "my schema", table: 'say "hi"' }],
    ["é".repeat(31), { table: "é".repeat(31) }],
  ])("reads %s", (text, name) => {
    expect(parseTableName(text)).toEqual(name);
  });

  test.each(["", ".", "a.", ".a", "a.b.c", '"a', 'a"', '""', '"a"b', 'a"b"', "é".repeat(32), "a\0b", '"a" . "b"'])(
    "refuses %o",
    (text) => {
      expect(parseTableName(text)).toBeUndefined();
    },
  );
});
