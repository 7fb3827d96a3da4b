// A composite primary key becomes a bound and a cursor. If its bytes sorted otherwise than the database sorts its rows, a shard
// would hold other rows than the query that fills it; if FoundationDB read them otherwise, its keys could not be used at all.
import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes, InvariantViolation, isBytes, unwrap } from "@gossip/stdx";
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { pack, unpack, type TupleItem } from "fdb-tuple";
import { describe, expect, test, vi } from "vitest";
import { decodeTuple } from "./decode-tuple.ts";
import { encodeTuple } from "./encode-tuple.ts";
import type { KeyBuf } from "../keys/key-buf.ts";
import { encodeKey } from "../keys/key-encoding.ts";
import { ascii, bytes, filled, hex, join, NOT_BYTES, toHex } from "../keys.fixture.ts";
import { MAX_TUPLE_DEPTH, type PartOrder, type TupleElement, type TupleUuid } from "./tuple-element.ts";
import { TupleKey } from "./tuple-key.ts";
import { compareTuples, order, tuple, tupleElement, tupleInteger } from "./tuples.fixture.ts";
import { readVectors } from "../wire-vectors.fixture.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

/** All ways to encode, checked to agree. */
function encode(parts: readonly TupleElement[], directions: readonly PartOrder[] = []): ReturnType<typeof encodeTuple> {
  const encoded = encodeTuple(parts, directions);
  const key = TupleKey.tryNew(parts, directions);
  if (encoded.ok) {
    expect(toHex(encodeKey(unwrap(key)))).toBe(toHex(encoded.value));
  } else {
    expect(key).toEqual(encoded);
    expect(() => new TupleKey(parts, directions)).toThrow(InvariantViolation);
  }
  return encoded;
}

/** Elements as the page writes them. */
function readElements(cell: string): TupleElement[] {
  return JSON.parse(cell, (_name, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { int, hex: digits, uuid, double } = value as Record<string, string | undefined>;
    if (int !== undefined) return BigInt(int);
    if (digits !== undefined) return hex(digits);
    return uuid === undefined ? Number(double) : { kind: "Uuid", bytes: hex(uuid) };
  }) as TupleElement[];
}

function readOrder(cell: string): PartOrder[] {
  return cell === "" ? [] : (cell.split(", ") as PartOrder[]);
}

describe("vectors of the page", () => {
  test.each(readVectors("### Tuple vectors"))("%s is %s", (elements, encoded) => {
    const parts = readElements(elements);
    expect(toHex(unwrap(encode(parts)))).toBe(encoded.replaceAll(" ", ""));
    expect(decodeTuple(hex(encoded))).toEqual({ ok: true, value: parts });
  });

  test.each(readVectors("### Descending parts"))("%s, %s, is %s", (elements, directions, encoded) => {
    const parts = readElements(elements);
    expect(toHex(unwrap(encode(parts, readOrder(directions))))).toBe(encoded.replaceAll(" ", ""));
    expect(decodeTuple(hex(encoded), readOrder(directions))).toEqual({ ok: true, value: parts });
  });

  test.each(readVectors("### Malformed tuples"))("%s, %s, is refused: %s", (encoded, directions, error) => {
    expect(decodeTuple(hex(encoded), readOrder(directions))).toEqual({ ok: false, error: JSON.parse(error) });
  });
});

describe("order", () => {
  test("byte order is tuple order, exactly", () => {
    fc.assert(
      fc.property(tuple, tuple, (a, b) => {
        const compared = Math.sign(compareBytes(unwrap(encode(a)), unwrap(encode(b))));
        expect(compared).toBe(compareTuples(a, b));
        expect(Math.sign(TupleKey.compare(new TupleKey(a), new TupleKey(b)))).toBe(compared);
      }),
      { numRuns: 2000 },
    );
  });

  test("one element in front does not change the order of what follows", () => {
    fc.assert(
      fc.property(tupleElement, tupleElement, tupleElement, (head, a, b) => {
        const compared = Math.sign(compareBytes(unwrap(encodeTuple([head, a])), unwrap(encodeTuple([head, b]))));
        expect(compared).toBe(compareTuples([a], [b]));
      }),
      { numRuns: 2000 },
    );
  });

  test("integers are in order across all lengths and signs", () => {
    fc.assert(
      fc.property(tupleInteger, tupleInteger, (a, b) => {
        const compared = Math.sign(compareBytes(unwrap(encode([a])), unwrap(encode([b]))));
        expect(compared).toBe(a < b ? -1 : Number(a > b));
      }),
      { numRuns: 1000 },
    );
  });

  test("descending parts turn around, the others stay, in every schema that is accepted", () => {
    let acceptedCount = 0;
    fc.assert(
      fc.property(tuple, tuple, order, (a, b, directions) => {
        const [keyA, keyB] = [encode(a, directions), encode(b, directions)];
        if (!keyA.ok || !keyB.ok) return;
        acceptedCount++;
        expect(Math.sign(compareBytes(keyA.value, keyB.value))).toBe(compareTuples(a, b, directions));
      }),
      { numRuns: 4000, examples: fixedExamples(2000, tuple, tuple, order) },
    );
    expect(acceptedCount).toBeGreaterThan(300);
  });

  test("strings that begin each other descend as well, whatever follows them", () => {
    const text = fc.array(fc.constantFrom("\u{1}", "a", "\u{ff}"), { maxLength: 2 }).map((parts) => parts.join(""));
    const next = fc.oneof(fc.constant([]), fc.constantFrom<TupleElement[]>([null], [0n], [""], [[]], [true]));
    fc.assert(
      fc.property(text, text, next, next, (a, b, nextA, nextB) => {
        for (const directions of [["Descending"], ["Descending", "Descending"]] as PartOrder[][]) {
          const [left, right] = [
            [a, ...nextA],
            [b, ...nextB],
          ];
          const [keyA, keyB] = [encode(left, directions), encode(right, directions)];
          if (!keyA.ok || !keyB.ok) continue;
          expect(Math.sign(compareBytes(keyA.value, keyB.value))).toBe(compareTuples(left, right, directions));
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe("round trip", () => {
  test("what was encoded decodes to itself", () => {
    fc.assert(
      fc.property(tuple, order, (parts, directions) => {
        const encoded = encode(parts, directions);
        if (encoded.ok) expect(decodeTuple(encoded.value, directions)).toEqual({ ok: true, value: parts });
        else expect(["ZeroInDescending", "AmbiguousNull"]).toContain(encoded.error.kind);
      }),
      { numRuns: 3000 },
    );
  });

  test("every byte string is a tuple or an error, and a tuple without NaN encodes to the bytes it was decoded from", () => {
    const code = fc.constantFrom(
      0x00,
      0x01,
      0x02,
      0x05,
      0x0c,
      0x13,
      0x14,
      0x15,
      0x16,
      0x1c,
      0x21,
      0x26,
      0x27,
      0x30,
      0x61,
      0xff,
      0xfe,
      0xfd,
      0xfa,
      0xeb,
      0xea,
    );
    const nearly = fc.tuple(tuple, order, fc.nat(20), fc.nat(255)).map(([parts, directions, at, value]) => {
      const encoded = encodeTuple(parts, directions);
      if (!encoded.ok) return bytes(value);
      const changed = encoded.value;
      if (at < changed.length) changed[at] = value;
      return changed;
    });
    const input = fc.oneof(
      fc.array(code, { maxLength: 12 }).map((values) => Uint8Array.from(values)),
      nearly,
      fc.uint8Array({ maxLength: 20 }),
    );
    let decodedCount = 0;
    fc.assert(
      fc.property(input, order, (data, directions) => {
        const decoded = decodeTuple(data, directions);
        if (decoded.ok) {
          decodedCount++;
          const encoded = unwrap(encode(decoded.value, directions));
          if (!holdsNaN(decoded.value)) expect(toHex(encoded)).toBe(toHex(data));
          expect(decodeTuple(encoded, directions)).toEqual(decoded);
        } else {
          expect(decoded.error.offset).toBeLessThan(data.length);
        }
      }),
      { numRuns: 5000, examples: fixedExamples(2500, input, order) },
    );
    expect(decodedCount).toBeGreaterThan(200);
  });

  test("every NaN decodes to NaN, in both directions and nested, and encodes to the canonical one", () => {
    const mantissa = fc.oneof(
      fc.bigInt({ min: 1n, max: (1n << 52n) - 1n }),
      fc.constantFrom(1n, 1n << 51n, (1n << 51n) + 1n, (1n << 52n) - 1n),
    );
    const canonical = hex("21fff8000000000000");
    fc.assert(
      fc.property(mantissa, fc.boolean(), fc.boolean(), (fraction, isNegative, isNested) => {
        const bits = (0x7ffn << 52n) | fraction;
        // Positive doubles are written with the sign bit set, negative ones with every bit flipped.
        const written = isNegative ? ~(bits | (1n << 63n)) : bits | (1n << 63n);
        const double = join(bytes(0x21), hex(BigInt.asUintN(64, written).toString(16).padStart(16, "0")));
        const wrap = (part: Uint8Array): Uint8Array => (isNested ? join(bytes(0x05), part, bytes(0x00)) : part);
        const parts: TupleElement[] = isNested ? [[NaN]] : [NaN];

        expect(decodeTuple(wrap(double))).toEqual({ ok: true, value: parts });
        expect(decodeTuple(flipped(wrap(double)), ["Descending"])).toEqual({ ok: true, value: parts });
        expect(encode(parts)).toEqual({ ok: true, value: wrap(canonical) });
        expect(encode(parts, ["Descending"])).toEqual({ ok: true, value: flipped(wrap(canonical)) });
      }),
      { numRuns: 500 },
    );
  });

  test("what is decoded owns its bytes", () => {
    const encoded = unwrap(encodeTuple([ascii("ab"), { kind: "Uuid", bytes: filled(16) }]));
    const decoded = unwrap(decodeTuple(encoded));
    encoded.fill(0);
    expect(decoded).toEqual([ascii("ab"), { kind: "Uuid", bytes: filled(16) }]);
  });
});

// fdb-tuple 1.0.0 takes numbers and bigints for integers, so doubles are wrapped for it; it replaces lone surrogates, knows no
// limit of size or depth, reads truncated strings as if they ended, and has nothing that descends. There it is no witness.
describe("against fdb-tuple", () => {
  test("encodes to the same bytes", () => {
    fc.assert(
      fc.property(tuple, (parts) => {
        expect(toHex(unwrap(encode(parts)))).toBe(toHex(pack(parts.map(asItem))));
      }),
      { numRuns: 3000 },
    );
  });

  test("decodes what it wrote, and it decodes what we wrote", () => {
    fc.assert(
      fc.property(tuple, (parts) => {
        const theirs = pack(parts.map(asItem));
        expect(decodeTuple(theirs)).toEqual({ ok: true, value: parts });
        expect(unpack(Buffer.from(unwrap(encode(parts))), true).map(fromItem)).toEqual(parts);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("what is no key", () => {
  const MAX = (1n << 64n) - 1n;

  test.each<[string, TupleElement[], PartOrder[], unknown]>([
    ["an integer above", [0n, MAX + 1n], [], { kind: "IntegerTooLarge", partIndex: 1 }],
    ["an integer below", [[-MAX - 1n]], [], { kind: "IntegerTooLarge", partIndex: 0 }],
    ["a far larger integer", [1n << 2000n], [], { kind: "IntegerTooLarge", partIndex: 0 }],
    ["half a character", ["ok", "a\u{dc00}"], [], { kind: "LoneSurrogateInPart", partIndex: 1 }],
    ["a short UUID", [{ kind: "Uuid", bytes: filled(15) }], [], { kind: "WrongUuidSize", partIndex: 0, size: 15 }],
    ["a descending zero", ["a", "a\0"], ["Ascending", "Descending"], { kind: "ZeroInDescending", partIndex: 1 }],
    ["a descending zero byte", [bytes(0)], ["Descending"], { kind: "ZeroInDescending", partIndex: 0 }],
    ["a descending nested null", [[1n, null]], ["Descending"], { kind: "ZeroInDescending", partIndex: 0 }],
    ["a descending nested zero", [[["\0"]]], ["Descending"], { kind: "ZeroInDescending", partIndex: 0 }],
    ["a null behind an opposite string", ["a", null], ["Descending"], { kind: "AmbiguousNull", partIndex: 1 }],
    [
      "a null behind opposite bytes",
      [bytes(1), null],
      ["Ascending", "Descending"],
      { kind: "AmbiguousNull", partIndex: 1 },
    ],
    [
      "a null behind an opposite tuple",
      [0n, [], null],
      ["Ascending", "Ascending", "Descending"],
      { kind: "AmbiguousNull", partIndex: 2 },
    ],
    [
      "a string that is too long",
      ["a".repeat(MAX_KEY_SIZE - 1)],
      [],
      { kind: "KeyTooLarge", size: MAX_KEY_SIZE + 1, max: MAX_KEY_SIZE },
    ],
    [
      "parts that are too long together",
      [filled(4000), 1, filled(100)],
      [],
      { kind: "KeyTooLarge", size: 4002 + 9 + 102, max: MAX_KEY_SIZE },
    ],
  ])("%s", (_name, parts, directions, error) => {
    expect(encode(parts, directions)).toEqual({ ok: false, error });
  });

  test.each<[string, TupleElement[], PartOrder[]]>([
    ["the largest integers", [MAX, -MAX], []],
    ["a null behind a string of its direction", ["a", null], ["Descending", "Descending"]],
    ["a null behind an integer of the other", [1n, null], ["Descending"]],
    ["a descending integer and double with zero bytes", [256n, 0], ["Descending", "Descending"]],
    ["a descending UUID with zero bytes", [{ kind: "Uuid", bytes: filled(16, 0) }], ["Descending"]],
    ["a string as long as a key may be", ["a".repeat(MAX_KEY_SIZE - 2)], []],
  ])("%s is one", (_name, parts, directions) => {
    expect(decodeTuple(unwrap(encode(parts, directions)), directions)).toEqual({ ok: true, value: parts });
  });

  test("tuples nest 64 deep and no deeper", () => {
    const nest = (depth: number): TupleElement => (depth === 0 ? 1n : [nest(depth - 1)]);
    const deepest = unwrap(encode([nest(MAX_TUPLE_DEPTH)]));
    expect(decodeTuple(deepest)).toEqual({ ok: true, value: [nest(MAX_TUPLE_DEPTH)] });
    expect(encode([nest(MAX_TUPLE_DEPTH + 1)])).toEqual({ ok: false, error: { kind: "PartTooDeep", partIndex: 0 } });
    const deeper = join(bytes(0x05), deepest, bytes(0x00));
    expect(decodeTuple(deeper)).toEqual({ ok: false, error: { kind: "TooDeep", offset: MAX_TUPLE_DEPTH } });
    expect(decodeTuple(filled(4000, 0x05))).toEqual({ ok: false, error: { kind: "TooDeep", offset: MAX_TUPLE_DEPTH } });
  });

  test("a tuple that holds itself, or one array in many places, is refused and not followed forever", () => {
    const circle: TupleElement[] = [];
    circle.push(circle);
    expect(encode(circle)).toMatchObject({ error: { kind: "PartTooDeep" } });
    let wide: TupleElement = ["x"];
    for (let level = 0; level < 60; level++) wide = [wide, wide];
    expect(encode([wide])).toMatchObject({ error: { kind: "KeyTooLarge" } });
  });

  test.each([
    undefined,
    Symbol("s"),
    () => 1,
    {},
    new Date(0),
    { type: "float", value: 1 },
    { kind: "Uuid" },
    { kind: "Uuid", bytes: "x" },
    new Uint16Array(1),
  ])("a value that no tuple can hold: %s", (value) => {
    expect(encode([0n, value as TupleElement])).toMatchObject({
      error: { kind: "UnsupportedElement", partIndex: 1, given: typeof value },
    });
    expect(encode([[[value as TupleElement]]])).toMatchObject({ error: { kind: "UnsupportedElement", partIndex: 0 } });
  });

  test("an array with holes has nothing in them", () => {
    // oxlint-disable-next-line no-sparse-arrays -- the point
    expect(encode([, 1n] as unknown as TupleElement[])).toMatchObject({
      error: { kind: "UnsupportedElement", given: "undefined" },
    });
    // oxlint-disable-next-line no-sparse-arrays -- the point
    expect(encode([[, 1n] as unknown as TupleElement[]])).toMatchObject({
      error: { kind: "UnsupportedElement", given: "undefined" },
    });
  });

  test("wrong arguments are refused with a sentence", () => {
    for (const value of [undefined, null, "ab", 7n]) {
      expect(() => encodeTuple(value as never)).toThrow("tuple must be an array of its parts");
      expect(() => new TupleKey(value as never)).toThrow(InvariantViolation);
    }
    for (const value of [null, "Descending", [1], ["descending"]]) {
      expect(() => encodeTuple([1n], value as never)).toThrow('order must be an array of "Ascending" and "Descending"');
      expect(() => decodeTuple(bytes(), value as never)).toThrow(InvariantViolation);
    }
    for (const value of NOT_BYTES) expect(() => decodeTuple(value as never)).toThrow("bytes must be a Uint8Array");
    expect(() => TupleKey.compare(new TupleKey([1n]), {} as TupleKey)).toThrow(InvariantViolation);
    expect(() => new TupleKey([1n]).encodeInto({} as KeyBuf)).toThrow("out must be a KeyBuf");
  });
});

function holdsNaN(element: TupleElement): boolean {
  return Array.isArray(element) ? element.some(holdsNaN) : Number.isNaN(element);
}

function flipped(part: Uint8Array): Uint8Array {
  return part.map((byte) => byte ^ 0xff);
}

function asItem(element: TupleElement): TupleItem {
  if (typeof element === "number") return { type: "double", value: element };
  if (typeof element !== "object" || element === null) return element;
  if (isBytes(element)) return Buffer.from(element);
  return "kind" in element ? { type: "uuid", value: Buffer.from(element.bytes) } : element.map(asItem);
}

function fromItem(item: TupleItem | undefined): TupleElement {
  if (typeof item === "number") return BigInt(item);
  if (typeof item !== "object" || item === null) return item as TupleElement;
  if (Buffer.isBuffer(item)) return new Uint8Array(item);
  if (Array.isArray(item)) return item.map(fromItem);
  if ("type" in item && item.type === "uuid")
    return { kind: "Uuid", bytes: new Uint8Array(item.value) } satisfies TupleUuid;
  return "type" in item && item.type === "double" ? item.value : expect.unreachable();
}
