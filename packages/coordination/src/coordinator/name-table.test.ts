// A batch may hold a shard once. A name that is forgotten too early lets in a second write of it; one that is remembered too
// long, or taken for another, makes batches of one out of batches of hundreds.

import fc from "fast-check";
import { expect, test } from "vitest";
import { NameTable } from "./name-table.ts";

// Names that fall together, and names from all over.
const name = fc.oneof(
  fc.constantFrom(0, -1, 1, 2 ** 31 - 1, -(2 ** 31)),
  fc.nat(20),
  fc.integer().map((bits) => bits << 16),
  fc.integer(),
);

test("knows what a set knows, as often as it is emptied, whatever its size was before", () => {
  fc.assert(
    fc.property(fc.array(fc.array(name, { minLength: 1, maxLength: 70 }), { minLength: 1, maxLength: 8 }), (rounds) => {
      const table = new NameTable();
      for (const names of rounds) {
        table.clear(names.length);
        const known = new Set<number>();
        for (const each of names) {
          expect(table.add(each)).toBe(!known.has(each));
          known.add(each);
        }
      }
    }),
    { numRuns: 300 },
  );
});
