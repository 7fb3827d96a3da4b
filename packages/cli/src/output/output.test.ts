// What is printed is read by people and by scripts: a name with an escape sequence in it must not move the cursor, a number
// must not round up to "all done", and an exit code must never come to mean something else.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ERROR_KINDS } from "./cli-error.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { countOf, formatCount, formatDuration, formatRate, formatShare } from "./number-words.ts";
import { printable, printableText } from "./printable.ts";
import { renderTable } from "./table.ts";
import { clip, textWidth } from "./text-width.ts";

test("the exit codes are forever", () => {
  expect(Object.fromEntries(Object.entries(EXIT_CODES).map(([name, { code }]) => [name, code]))).toEqual({
    Ok: 0,
    Bug: 1,
    Usage: 2,
    ItemsFailed: 3,
    NotFound: 4,
    Refused: 5,
    SourceFailed: 6,
    StoreFailed: 7,
    Unhealthy: 8,
    OutputFailed: 9,
    HungUp: 129,
    Interrupted: 130,
    Terminated: 143,
  });
  for (const { exit } of Object.values(ERROR_KINDS)) expect(EXIT_CODES[exit].code).toBeGreaterThan(1);
});

describe("printable", () => {
  test("lets nothing through that a terminal would obey", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        // oxlint-disable-next-line no-control-regex -- they are what is looked for
        expect(printable(bytes)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e]/u);
      }),
    );
  });

  test("shows different names differently", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), fc.uint8Array({ maxLength: 6 }), (a, b) => {
        if (Buffer.compare(a, b) !== 0) expect(printable(a)).not.toBe(printable(b));
      }),
    );
  });

  test.each([
    [Buffer.from("plain/ünï"), "plain/ünï"],
    [Buffer.from("a\nb\tc"), "a\\nb\\tc"],
    [Buffer.from([0x1b, 0x5b, 0x6d]), "\\x1b[m"],
    [Buffer.from([0xff, 0x61]), "\\xffa"],
    [Buffer.from("back\\slash"), "back\\\\slash"],
    [Buffer.from("\u202eright"), "\\u{202e}right"],
  ])("%j is %s", (bytes, shown) => {
    expect(printable(bytes)).toBe(shown);
  });
});

describe("numbers in words", () => {
  test.each([
    [formatCount(1_234_567), "1,234,567"],
    [countOf(1, "item"), "1 item"],
    [countOf(2, "entry", "entries"), "2 entries"],
    [formatDuration(850), "850 ms"],
    [formatDuration(12_400), "12 s"],
    [formatDuration(59_900), "1 min"],
    [formatDuration(200_000), "3 min 20 s"],
    [formatDuration(3_600_000 * 27), "1 d 3 h"],
    [formatRate(0.517), "0.52/s"],
    [formatRate(8.13), "8.1/s"],
    [formatRate(412.4), "412/s"],
    [formatRate(817_500), "817.5k/s"],
    [formatRate(1_200_000), "1.2M/s"],
  ])("%s", (said, expected) => {
    expect(said).toBe(expected);
  });

  test("a share is 100 % at the end and nowhere before, 0 % at the beginning and nowhere after", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true, minExcluded: true, maxExcluded: true }), (fraction) => {
        expect(["100 %", "0 %", "0.0 %"]).not.toContain(formatShare(fraction));
      }),
    );
    expect([formatShare(1), formatShare(0)]).toEqual(["100 %", "0.0 %"]);
  });
});

describe("tables", () => {
  const cell = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => printableText(text));

  test("no line is wider than the terminal, whatever is in the cells", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (rows, width) => {
          for (const line of renderTable(
            [{ title: "A" }, { title: "NUMBER", isNumber: true }, { title: "C", mayShrink: true }],
            rows,
            width,
          ))
            expect(textWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  test("columns stand under their titles, numbers at the right", () => {
    expect(
      renderTable(
        [{ title: "NAME" }, { title: "N", isNumber: true }],
        [
          ["a", "1"],
          ["long name", "100"],
        ],
      ),
    ).toEqual(["NAME         N", "a            1", "long name  100"]);
  });

  test("what does not fit says that it was cut", () => {
    expect(clip("0123456789", 5)).toBe("0123…");
    expect(renderTable([{ title: "A", mayShrink: true }, { title: "B" }], [["0123456789", "end"]], 13)[1]).toBe(
      "0123456…  end",
    );
  });

  test("a narrow terminal leaves out the columns that may go, in their order, before it cuts a text short", () => {
    const columns = [
      { title: "ID" },
      { title: "FIRST", mayGo: 2 },
      { title: "SECOND", mayGo: 1 },
      { title: "TEXT", mayShrink: true },
    ];
    const row = ["1", "12345", "123456", "x".repeat(30)];
    const titles = (width: number): string[] => renderTable(columns, [row], width)[0]!.split(/ +/);
    expect([60, 39, 38, 32, 31, 24].map((width) => titles(width).join(" "))).toEqual([
      "ID FIRST SECOND TEXT",
      "ID FIRST SECOND TEXT",
      "ID SECOND TEXT",
      "ID SECOND TEXT",
      "ID TEXT",
      "ID TEXT",
    ]);
  });
});
