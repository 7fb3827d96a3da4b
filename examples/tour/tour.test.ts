// `npm start` is the first thing a newcomer runs. It must end by itself, and say that nothing was lost.
import { expect, test } from "vitest";
import { tour } from "./tour.ts";

test("the tour loses nothing, does nothing twice, and refuses the dead worker", async () => {
  const lines: string[] = [];
  await tour((line) => lines.push(line));
  const text = lines.join("\n");
  expect(text).toContain("0 missing, 0 hashed twice, 0 wrong");
  expect(text).toContain("came back and was refused");
  expect(text).toContain("MISDIRECTED writer is billing-1:7000");
});
