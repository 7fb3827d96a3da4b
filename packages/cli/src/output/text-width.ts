/** Scripts whose characters take two columns. Approximate, but never too small for the ones listed. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /\p{M}/u;

/** The width of a text without control characters, in terminal columns. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

/** The text, or as much of it as fits, followed by an ellipsis. */
export function clip(text: string, maxWidth: number): string {
  if (textWidth(text) <= maxWidth) return text;
  if (maxWidth < 1) return "";
  let [width, kept] = [0, ""];
  for (const char of text) {
    width += charWidth(char);
    if (width > maxWidth - 1) break;
    kept += char;
  }
  return `${kept}…`;
}

function charWidth(char: string): number {
  if (char <= "~") return 1;
  if (COMBINING.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
