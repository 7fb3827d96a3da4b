// A comparison of stores that are never asked anything, or refuse everything, shows nothing.
import { expect, test } from "vitest";
import { sampleAnswers } from "./port-differential.ts";

test("a list of commands has several writes that are made and several that are refused", async () => {
  const { made, refused } = await sampleAnswers(200);
  expect(made).toBeGreaterThan(5);
  expect(refused).toBeGreaterThan(3);
});
