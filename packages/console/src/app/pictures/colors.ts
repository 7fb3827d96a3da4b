import type { ShardState } from "../data/api-types.ts";

/** The colors of the theme, for canvases. */
export interface Colors {
  readonly surface: string;
  readonly sunken: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly states: Readonly<Record<ShardState | "failed", string>>;
  /** From nothing to the most, for heat. */
  readonly ramp: readonly Rgb[];
}

export type Rgb = readonly [red: number, green: number, blue: number];

/** One hue with growing contrast to the surface: readable with every color blindness, and in print. */
export const RAMPS: Readonly<Record<"light" | "dark", readonly Rgb[]>> = {
  light: [
    [238, 241, 244],
    [176, 214, 236],
    [98, 168, 214],
    [28, 112, 172],
    [8, 48, 92],
  ],
  dark: [
    [16, 22, 29],
    [18, 58, 88],
    [26, 106, 152],
    [86, 180, 233],
    [226, 244, 255],
  ],
};

/** The color at `t`, from 0 to 1, between the stops of a ramp. */
export function rampColor(ramp: readonly Rgb[], t: number): Rgb {
  const place = Math.min(1, Math.max(0, t)) * (ramp.length - 1);
  const index = Math.min(ramp.length - 2, Math.floor(place));
  const [a, b] = [ramp[index]!, ramp[index + 1]!];
  const mix = (channel: 0 | 1 | 2): number => Math.round(a[channel] + (b[channel] - a[channel]) * (place - index));
  return [mix(0), mix(1), mix(2)];
}
