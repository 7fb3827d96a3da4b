// Successors and midpoints.
import type { Target } from "../mutant.ts";

export const ARITHMETIC_TARGETS: readonly Target[] = [
  {
    name: "prefixSuccessor",
    file: "arithmetic/successors.ts",
    tests: ["arithmetic/prefix-successor.test.ts"],
    edits: [
      { find: "prefix.length > MAX_KEY_SIZE", replace: "prefix.length >= MAX_KEY_SIZE" },
      { find: "size === 0 || prefix.length > MAX_KEY_SIZE", replace: "size === 0" },
      { find: "prefix[size - 1] === 0xff", replace: "prefix[size - 1] === 0xfe" },
      { find: "prefix[size - 1] === 0xff", replace: "prefix[size - 1]! >= 0xfe" },
      { find: "prefix[size - 1] === 0xff", replace: "prefix[size - 1] === 0x00" },
      { find: "while (size > 0 &&", replace: "while (size > 1 &&" },
      {
        find: "while (size > 0 && prefix[size - 1] === 0xff) size--;",
        replace: "if (size > 0 && prefix[size - 1] === 0xff) size--;",
      },
      { find: "out.bytes[size - 1]! += 1;", replace: "out.bytes[size - 1]! += 2;" },
      { find: "out.bytes[size - 1]! += 1;", replace: "out.bytes[0]! += 1;" },
      { find: "out.bytes[size - 1]! += 1;", replace: "" },
      { find: "out.commit(size);", replace: "out.commit(prefix.length);" },
      { find: "size === 0 || prefix.length > MAX_KEY_SIZE", replace: "prefix.length > MAX_KEY_SIZE" },
    ],
  },
  {
    name: "keySuccessor",
    file: "arithmetic/successors.ts",
    tests: ["arithmetic/key-successor.test.ts"],
    edits: [
      { find: "if (size >= MAX_KEY_SIZE)", replace: "if (size > MAX_KEY_SIZE)" },
      { find: "if (size >= MAX_KEY_SIZE)", replace: "if (size >= MAX_KEY_SIZE - 1)" },
      {
        find: "if (size >= MAX_KEY_SIZE) return prefixSuccessorInto(key, out);",
        replace: "if (size >= MAX_KEY_SIZE) return false;",
      },
      { find: "out.bytes[size] = 0;", replace: "out.bytes[size] = 1;" },
      { find: "  out.bytes[size] = 0;\n", replace: "" },
      { find: "out.commit(size + 1);", replace: "out.commit(size);" },
      { find: "out.commit(size + 1);", replace: "out.commit(size + 2);" },
      { find: "out.bytes.set(key);", replace: "" },
    ],
  },
  {
    name: "byteMidpoint",
    file: "arithmetic/byte-midpoint.ts",
    tests: ["arithmetic/byte-midpoint.test.ts"],
    edits: [
      { find: "if (width > MAX_KEY_SIZE) return NONE;", replace: "if (width >= MAX_KEY_SIZE) return NONE;" },
      { find: "  if (width > MAX_KEY_SIZE) return NONE;\n", replace: "" },
      { find: "  if (first === b.length) return NONE;\n", replace: "" },
      {
        find: "if (!isFilledWith(b, first, 0x00)) return first;",
        replace: "if (!isFilledWith(b, first, 0xff)) return first;",
      },
      { find: "if (!isFilledWith(b, first, 0x00)) return first;", replace: "return first;" },
      {
        find: "return b.length > first + 1 ? USE_SUCCESSOR : NONE;\n  }",
        replace: "return b.length > first ? USE_SUCCESSOR : NONE;\n  }",
      },
      { find: "return b.length > first + 1 ? USE_SUCCESSOR : NONE;\n  }", replace: "return NONE;\n  }" },
      { find: "if (a[first]! > b[first]!) return NONE;", replace: "if (a[first]! < b[first]!) return NONE;" },
      { find: "if (a.length < width || !areNeighbors(a, b, first))", replace: "if (a.length < width)" },
      {
        find: "if (a.length < width || !areNeighbors(a, b, first))",
        replace: "if (!areNeighbors(a, b, first) || a.length > 9000)",
      },
      {
        find: "return a.length < MAX_KEY_SIZE || b.length > first + 1",
        replace: "return a.length <= MAX_KEY_SIZE || b.length > first + 1",
      },
      {
        find: "return a.length < MAX_KEY_SIZE || b.length > first + 1",
        replace: "return a.length < MAX_KEY_SIZE || b.length > first + 2",
      },
      { find: "return a.length < MAX_KEY_SIZE || b.length > first + 1", replace: "return b.length > first + 1" },
      { find: "b[first]! - a[first]! === 1", replace: "b[first]! - a[first]! <= 2" },
      { find: "isFilledWith(a, first + 1, 0xff)", replace: "isFilledWith(a, first + 2, 0xff)" },
      { find: "isFilledWith(b, first + 1, 0x00);", replace: "true;" },
      {
        find: "  load(b, width, addend);\n  load(a, width, out);",
        replace: "  load(a, width, out);\n  load(b, width, addend);",
      },
      { find: "  target.bytes.fill(0, size, (width + WORD - 1) & -WORD);\n", replace: "" },
      { find: "target.bytes.fill(0, size, (width", replace: "target.bytes.fill(0, size + 1, (width" },
      { find: "(width + WORD - 1) & -WORD", replace: "width - 1" },
      { find: "let index = (width - 1) & -WORD;", replace: "let index = width & -WORD;" },
      {
        find: "let sum = words.getUint32(index) + addend.words.getUint32(index);",
        replace: "let sum = words.getUint32(index) + addend.words.getUint32(index) + 1;",
      },
      { find: "addend.words.getUint32(index) + carryOf(sum);", replace: "addend.words.getUint32(index);" },
      { find: "index > first - WORD;", replace: "index > first;" },
      { find: "(above << 31) | (sum >>> 1)", replace: "sum >>> 1" },
      { find: "(carryOf(sum) << 31) | (sum >>> 1)", replace: "sum >>> 1" },
      { find: "sum > 0xffff_ffff", replace: "sum >= 0xffff_ffff" },
      { find: "out.commit(width);", replace: "out.commit(a.length);" },
      {
        find: "while (index < shared && a[index] === b[index])",
        replace: "while (index < shared - 1 && a[index] === b[index])",
      },
    ],
  },
];
