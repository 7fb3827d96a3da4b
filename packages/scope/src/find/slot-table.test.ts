// Branches share one array. Two that had one slot would lead keys astray, and two with one base would
// take each other's slots for their own: a search could then go round forever.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SlotTable } from "./slot-table.ts";

const labelSets = fc.array(
  fc.uniqueArray(fc.oneof(fc.constantFrom(0, 1, 2, 255, 256), fc.nat(256)), { minLength: 1, maxLength: 12 }),
  { maxLength: 300, size: "max" },
);

test("no two branches have a slot or a base in common, and every slot holds its label", () => {
  fc.assert(
    fc.property(labelSets, (sets) => {
      const table = new SlotTable();
      const owners = new Map<number, number>();
      const bases = new Set<number>();
      // Millions of slots in all: what is expected is said once, at the end.
      let clashes = 0;
      for (const set of sets) {
        const labels = Uint16Array.from(set).sort();
        const base = table.place(labels, labels.length);
        if (bases.has(base)) clashes += 1;
        bases.add(base);
        for (const label of labels) {
          if (owners.has(base + label)) clashes += 1;
          owners.set(base + label, label);
        }
      }
      const words = table.toWords();
      const wrong = words.filter((word, index) => index % 2 === 0 && word !== (owners.get(index / 2) ?? -1) + 1);
      // A search may look a label beyond any base.
      const reach = 2 * (Math.max(0, ...bases) + 256) + 1;
      expect([clashes, wrong.length, reach < words.length]).toEqual([0, 0, true]);
    }),
  );
});

test("few slots stay empty", () => {
  const table = new SlotTable();
  let taken = 0;
  for (let branch = 0; branch < 20_000; branch++) {
    const labels = Uint16Array.from({ length: 2 + (branch % 4) }, (_, index) => 97 + ((branch * 7 + index * 5) % 26));
    taken += labels.length;
    table.place(labels.sort(), labels.length);
  }
  expect(table.toWords().length / 2).toBeLessThan(1.5 * taken);
});
