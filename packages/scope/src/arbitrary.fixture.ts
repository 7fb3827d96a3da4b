// Keys and prefixes for properties.
import fc from "fast-check";

/**
 * Short strings over four byte values: prefixes of each other, neighbors and repetitions are then
 * common. Over all 256 values two random keys are almost never related.
 */
export const denseBytes: fc.Arbitrary<Uint8Array> = fc
  .array(fc.constantFrom(0x00, 0x61, 0x62, 0xff), { maxLength: 7 })
  .map((values) => Uint8Array.from(values));

/** The same, but longer: past a word, so that comparing by words and by bytes both happen. */
export const longBytes: fc.Arbitrary<Uint8Array> = fc
  .tuple(fc.constantFrom("", "tenant:", "tenant:a:run:"), denseBytes)
  .map(([head, tail]) => Uint8Array.from([...new TextEncoder().encode(head), ...tail]));

export const nodeId: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c");

/** Any list of prefixes: duplicates and nesting included. */
export const prefixList: fc.Arbitrary<Uint8Array[]> = fc.array(fc.oneof(denseBytes, longBytes), { maxLength: 24 });

/** Distinct prefixes, nested or not. */
export const distinctPrefixes: fc.Arbitrary<Uint8Array[]> = fc.uniqueArray(fc.oneof(denseBytes, longBytes), {
  maxLength: 24,
  selector: String,
});

/** Prefixes of which none is inside another: of each nested pair the later one was left out. */
export const prefixFree: fc.Arbitrary<Uint8Array[]> = distinctPrefixes.map((prefixes) => {
  const kept: Uint8Array[] = [];
  for (const prefix of prefixes) {
    if (!kept.some((other) => covers(other, prefix) || covers(prefix, other))) kept.push(prefix);
  }
  return kept;
});

/** By the definition, and by no code of ours. */
export function covers(prefix: Uint8Array, key: Uint8Array): boolean {
  return prefix.every((byte, index) => key[index] === byte) && prefix.length <= key.length;
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
