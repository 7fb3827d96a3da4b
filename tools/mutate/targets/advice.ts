// Where to cut.
import type { Target } from "../mutant.ts";

export const ADVICE_TARGETS: readonly Target[] = [
  {
    name: "rangeMidpoint",
    file: "splits/split-advice.ts",
    tests: ["splits/split-advice.test.ts"],
    edits: [
      {
        find: "if (end.length > 0) return byteMidpoint(start, end);",
        replace: "if (end.length > 1) return byteMidpoint(start, end);",
      },
      {
        find: "if (end.length > 0) return byteMidpoint(start, end);",
        replace: "if (end.length > 0) return byteMidpoint(end, start);",
      },
      { find: "  if (end.length > 0) return byteMidpoint(start, end);\n", replace: "" },
      { find: " ?? keySuccessor(start);", replace: ";" },
      {
        find: "return byteMidpoint(start, highestBeyond(start)) ?? keySuccessor(start);",
        replace: "return keySuccessor(start);",
      },
      { find: "Math.min(start.length + 1, MAX_KEY_SIZE)", replace: "Math.min(start.length, MAX_KEY_SIZE)" },
      { find: "Math.min(start.length + 1, MAX_KEY_SIZE)", replace: "Math.min(start.length + 2, MAX_KEY_SIZE)" },
      { find: "Math.min(start.length + 1, MAX_KEY_SIZE)", replace: "(start.length + 1)" },
      { find: ".fill(0xff);", replace: ".fill(0xfe);" },
    ],
  },
  {
    name: "evenSplitPoints",
    file: "splits/split-advice.ts",
    tests: ["splits/split-advice.test.ts"],
    edits: [
      { find: "const EXTRA_WIDTH = 8;", replace: "const EXTRA_WIDTH = 7;" },
      {
        find: "if (longer > MAX_KEY_SIZE || compareBytes(start, end) >= 0) return [];",
        replace: "if (longer > MAX_KEY_SIZE) return [];",
      },
      {
        find: "if (longer > MAX_KEY_SIZE || compareBytes(start, end) >= 0) return [];",
        replace: "if (compareBytes(start, end) >= 0) return [];",
      },
      { find: "if (longer > MAX_KEY_SIZE ||", replace: "if (longer >= MAX_KEY_SIZE ||" },
      { find: "Math.min(longer + EXTRA_WIDTH, MAX_KEY_SIZE)", replace: "(longer + EXTRA_WIDTH)" },
      { find: "let previous = 0n;", replace: "let previous = -1n;" },
      {
        find: "for (let part = 1; part < partCount; part++) {\n    const offset",
        replace: "for (let part = 1; part <= partCount; part++) {\n    const offset",
      },
      { find: "(BigInt(part) * span) / BigInt(partCount)", replace: "BigInt(part) * (span / BigInt(partCount))" },
      { find: "if (offset === previous) continue;", replace: "" },
      { find: "    previous = offset;\n", replace: "" },
      { find: "toKey(low + offset, width)", replace: "toKey(offset, width)" },
      { find: 'digits.startsWith("00", 2 * size - 2)', replace: 'digits.startsWith("0", 2 * size - 1)' },
      {
        find: 'while (size > 0 && digits.startsWith("00", 2 * size - 2)) size--;',
        replace: 'if (digits.startsWith("00", 2 * size - 2)) size--;',
      },
      { find: 'padStart(2 * width, "0")', replace: 'padStart(2 * width - 2, "0")' },
      { find: "givenEnd.length > 0 ? givenEnd : highestBeyond(start)", replace: "givenEnd" },
    ],
  },
  {
    name: "splitPointsFromSamples",
    file: "splits/split-advice.ts",
    tests: ["splits/split-advice.test.ts"],
    edits: [
      { find: "sample.length > MAX_KEY_SIZE || ", replace: "" },
      { find: "sample.length > MAX_KEY_SIZE", replace: "sample.length >= MAX_KEY_SIZE" },
      {
        find: "compareBytes(sample, start) < 0) return false;",
        replace: "compareBytes(sample, start) <= 0) return false;",
      },
      {
        find: "return end.length === 0 || compareBytes(sample, end) < 0;",
        replace: "return end.length === 0 || compareBytes(sample, end) <= 0;",
      },
      {
        find: "return end.length === 0 || compareBytes(sample, end) < 0;",
        replace: "return compareBytes(sample, end) < 0;",
      },
      { find: ".sort(compareBytes)", replace: "" },
      { find: ".filter(differsFromPrevious)", replace: "" },
      {
        find: "Math.floor((part * distinct.length) / partCount)",
        replace: "Math.ceil((part * distinct.length) / partCount)",
      },
      { find: "if (compareBytes(sample, start) > 0) points", replace: "points" },
      { find: "|| rank === previousRank) continue;", replace: ") continue;" },
      { find: "points.push(new Uint8Array(sample));", replace: "points.push(sample);" },
      {
        find: "for (let part = 1; part < partCount; part++) {\n    const rank",
        replace: "for (let part = 0; part < partCount; part++) {\n    const rank",
      },
    ],
  },
  {
    name: "alignSplitPoints",
    file: "splits/align-split-points.ts",
    tests: ["splits/split-advice.test.ts"],
    edits: [
      {
        find: 'if (hint.kind !== "Manifest") return [...points];',
        replace: 'if (hint.kind === "Range") return [...points];\n  if (hint.kind !== "Manifest") return [];',
      },
      { find: "|| row === previous) continue;", replace: ") continue;" },
      { find: "if (readU64(padded, 0) !== manifestId) return undefined;", replace: "" },
      { find: "(isBetweenRows ? 1n : 0n)", replace: "0n" },
      { find: "(isBetweenRows ? 1n : 0n)", replace: "1n" },
      { find: "row > startRow && row < endRow", replace: "row >= startRow && row < endRow" },
      { find: "row > startRow && row < endRow", replace: "row > startRow && row <= endRow" },
      { find: "row > startRow && row < endRow", replace: "row > startRow" },
      { find: "readU64(padded, 8)", replace: "readU64(padded, 0)" },
    ],
  },
];
