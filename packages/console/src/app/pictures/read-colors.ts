import { RAMPS, type Colors } from "./colors.ts";

/** Reads the theme's variables. */
export function readColors(theme: "light" | "dark"): Colors {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    surface: read("surface"),
    sunken: read("sunken"),
    line: read("line"),
    lineStrong: read("line-strong"),
    text: read("text"),
    muted: read("muted"),
    accent: read("accent"),
    states: {
      done: read("done"),
      leased: read("leased"),
      waiting: read("waiting"),
      parked: read("parked"),
      split: read("line-strong"),
      failed: read("failed"),
    },
    ramp: RAMPS[theme],
  };
}
