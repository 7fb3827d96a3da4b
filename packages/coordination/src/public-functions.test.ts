// Every exported function can be called from JavaScript. It must answer junk with a clear message; a TypeError from
// inside names a line of ours and does not help the caller.

import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import * as api from "./index.ts";
import * as testing from "./testing/index.ts";

const JUNK: readonly unknown[] = [undefined, null, 5, -1n, "text", {}, [], Symbol("junk"), new Uint8Array(3)];

type AnyFunction = (...args: readonly unknown[]) => unknown;

/** Parts of the kernel, and what takes records, which a store or a reader has made. The kernel's transitions have a test of their own. */
const TRUSTING = [
  "checkOpIdempotency",
  "validateCursorUpdate",
  "validateLease",
  "isLeasedAt",
  "newRunRecord",
  "newShardRecord",
  "summarizeShard",
];
/** A compiler checks test files. */
const FOR_TEST_FILES = [
  "World",
  "describeCoordinationStore",
  "explore",
  "simulate",
  "simulateOverload",
  "shrink",
  "coverageOf",
  "formatSteps",
  "formatViolation",
  "reproduceLine",
  "StoreProbe",
];

function isClass(value: unknown): value is new (...args: readonly unknown[]) => unknown {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}

/** Everything that can be called, by name: functions, constructors, and the functions of companions. */
function* callablesOf(module: Readonly<Record<string, unknown>>): Generator<[name: string, call: AnyFunction]> {
  for (const [name, value] of Object.entries(module)) {
    if (TRUSTING.includes(name) || FOR_TEST_FILES.includes(name)) continue;
    if (isClass(value)) yield [`new ${name}`, (...args) => new value(...args)];
    else if (typeof value === "function") yield [name, value as AnyFunction];
    else if (typeof value === "object" && value !== null) {
      for (const [method, part] of Object.entries(value)) {
        if (typeof part === "function") yield [`${name}.${method}`, (part as AnyFunction).bind(value)];
      }
    }
  }
}

function* methodsOf(object: object): Generator<[name: string, call: AnyFunction]> {
  const prototype = Object.getPrototypeOf(object) as object;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const { value } = Object.getOwnPropertyDescriptor(prototype, name)!;
    if (name !== "constructor" && typeof value === "function")
      yield [`${object.constructor.name}.${name}`, (value as AnyFunction).bind(object)];
  }
}

const scratch = [...methodsOf(new api.AcquireScratch())].filter(([name]) => !name.includes("read"));
const clock = [...methodsOf(new testing.ManualClock())];
const all = [...callablesOf(api), ...callablesOf(testing), ...scratch, ...clock];

describe("junk", () => {
  test.each(all)("%s answers it, or says what is wrong with it", (_name, call) => {
    for (const first of JUNK) {
      for (const second of JUNK) {
        try {
          call(first, second);
        } catch (error) {
          expect(error, `(${String(first)}, ${String(second)})`).toBeInstanceOf(InvariantViolation);
          expect((error as Error).message.length).toBeGreaterThan(10);
        }
      }
    }
  });

  test("there is something to call", () => {
    expect(all.length).toBeGreaterThan(40);
  });
});
