// Test files run side by side in threads of one process, and several start the same fixture. A bundle that one of them removes while
// another starts from it is a failure that cannot be explained afterwards.
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { BundledProcesses } from "./bundled-processes.ts";

test("what one has bundled stays when another removes the same", async () => {
  const [one, another] = [0, 1].map(() => new BundledProcesses(import.meta.url, { external: [] })) as [
    BundledProcesses,
    BundledProcesses,
  ];
  const [first, second] = await Promise.all([one.prepare("./fault-log.ts"), another.prepare("./fault-log.ts")]);
  await one.remove();
  expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
  await another.remove();
  expect(existsSync(second)).toBe(false);
});
