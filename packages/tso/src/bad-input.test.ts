// Callers without a compiler hand in anything. Each public function answers that with a value of its error type or an
// InvariantViolation whose sentence says what is allowed; a TypeError from its inside would not help the caller.
import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import * as tso from "./index.ts";

const JUNK: readonly unknown[] = [
  undefined,
  null,
  0,
  -1,
  1.5,
  Number.NaN,
  7n,
  -7n,
  "",
  "x",
  true,
  Symbol("s"),
  {},
  [],
  () => 1,
  new Date(0),
  { physicalMs: 1n },
  { nowMs: "x" },
  { floorMs: 1 },
];

/** What is under test reads its arguments as it finds them. */
type Loose = (...args: unknown[]) => unknown;

function expectCivil(call: () => unknown): void {
  try {
    call();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(InvariantViolation);
    expect((thrown as Error).message.length).toBeGreaterThan(10);
  }
}

const seeded = (): tso.WindowAllocator => {
  const allocator = new tso.WindowAllocator();
  expect(allocator.seed({ floorMs: 1, ceilingMs: 100, epoch: tso.Epoch.ZERO }).ok).toBe(true);
  return allocator;
};

const methods = (target: object): [string, Loose][] => {
  const names = new Set([
    ...Object.keys(target),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(target) as object),
  ]);
  return [...names].flatMap((name): [string, Loose][] => {
    const descriptor =
      Object.getOwnPropertyDescriptor(target, name) ??
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(target) as object, name);
    const value: unknown = descriptor?.value;
    return typeof value === "function" && name !== "constructor" && !(name in Object.prototype)
      ? [[name, (...args) => (value as Loose).apply(target, args)]]
      : [];
  });
};

const SUBJECTS: readonly [string, Loose][] = [
  ...Object.entries({
    Epoch: tso.Epoch,
    Timestamp: tso.Timestamp,
    WindowGrant: tso.WindowGrant,
    allocator: seeded(),
    idle: new tso.WindowAllocator(),
    buf: new tso.TimestampBuf(4),
  }).flatMap(([owner, target]) => methods(target).map(([name, call]): [string, Loose] => [`${owner}.${name}`, call])),
  ["TimestampBuf", (capacity) => new tso.TimestampBuf(capacity as number)],
  ["isGrantCount", tso.isGrantCount as Loose],
  ["isPhysicalMs", tso.isPhysicalMs as Loose],
];

describe.each(SUBJECTS)("%s", (_, call) => {
  test("refuses junk civilly, wherever it stands", () => {
    for (const a of JUNK) {
      expectCivil(() => call(a));
      for (const b of JUNK) expectCivil(() => call(a, b));
      for (const b of JUNK) expectCivil(() => call(5, 1, b));
      for (const b of JUNK) expectCivil(() => call(b, 1, a));
    }
  });
});

test("nothing was missed", () => {
  expect(SUBJECTS.length).toBeGreaterThan(25);
});
