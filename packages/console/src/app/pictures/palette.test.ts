// About one man in twelve sees some colors alike. Two states that look the same to him tell him nothing.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("../styles.css", import.meta.url), "utf8");
const STATES = ["waiting", "leased", "done", "parked", "failed"] as const;
/** Two colors that differ by less are easy to mix up in small areas, measured as OKLab distance. */
const LEAST_DISTANCE = 0.09;
/** Of a state from what is behind it, by WCAG 1.4.11 for graphics. What waits stays in the background. */
const LEAST_CONTRAST = { waiting: 1.5, leased: 3, done: 3, parked: 3, failed: 3 } as const;

type Rgb = readonly [red: number, green: number, blue: number];

/** How each color is seen, in linear light: Machado, Oliveira and Fernandes 2009, complete deficiency. */
const VISIONS: Readonly<Record<string, readonly Rgb[]>> = {
  "all colors": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  "no red (protanopia)": [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  "no green (deuteranopia)": [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  "no blue (tritanopia)": [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** The colors of a theme by their names in the style sheet. */
function colorsOf(theme: "light" | "dark"): ReadonlyMap<string, Rgb> {
  const [, block] = (theme === "light" ? /:root \{([^}]*)\}/ : /:root\[data-theme="dark"\] \{([^}]*)\}/).exec(css)!;
  const found = [...block!.matchAll(/--([a-z-]+): #([0-9a-f]{6});/g)];
  return new Map(found.map(([, name, hex]) => [name!, linear(hex!)]));
}

function linear(hex: string): Rgb {
  const channel = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(0), channel(2), channel(4)];
}

function seen(rows: readonly Rgb[], [red, green, blue]: Rgb): Rgb {
  const channel = ([a, b, c]: Rgb): number => Math.min(1, Math.max(0, a * red + b * green + c * blue));
  return [channel(rows[0]!), channel(rows[1]!), channel(rows[2]!)];
}

/** The distance of two colors as people judge it: 0 is the same, 1 is black and white. */
function distance(a: Rgb, b: Rgb): number {
  const [first, second] = [oklab(a), oklab(b)];
  return Math.hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

function oklab([red, green, blue]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function contrast(a: Rgb, b: Rgb): number {
  const light = ([red, green, blue]: Rgb): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const [low, high] = [light(a), light(b)].toSorted((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

describe.each(["light", "dark"] as const)("the states of the %s theme", (theme) => {
  const colors = colorsOf(theme);
  test.each(Object.entries(VISIONS))("can be told apart with %s", (_name, rows) => {
    for (const [index, a] of STATES.entries())
      for (const b of STATES.slice(index + 1)) {
        const apart = distance(seen(rows, colors.get(a)!), seen(rows, colors.get(b)!));
        expect([a, b, apart >= LEAST_DISTANCE ? "apart" : apart]).toEqual([a, b, "apart"]);
      }
  });

  test("differ from what is behind them", () => {
    for (const state of STATES)
      expect(contrast(colors.get(state)!, colors.get("surface")!)).toBeGreaterThan(LEAST_CONTRAST[state]);
  });
});

test("red and green are found to be alike", () => {
  const rows = VISIONS["no green (deuteranopia)"]!;
  const apart = distance(seen(rows, linear("c0392b")), seen(rows, linear("6b7a1e")));
  expect(apart).toBeLessThan(LEAST_DISTANCE);
});
