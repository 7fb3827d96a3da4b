// A request with a misspelled field must not be executed without it, and the sender must learn which field it was.
import { expect, test } from "vitest";
import { makeValidator, validatorsOf } from "./validator.ts";
import { MAX_ELEMENTS } from "../schema/requests.ts";
import { OPERATION_NAMES } from "../table/operations.ts";
import Type from "typebox";

const id = "00000000000000ff";
const lease = { tenant: "0".repeat(64), run: id, shard: id, worker: id, fence: "2", deadline: "9" };
const check = (json: unknown) => validatorsOf("checkpoint").body!.check(json);
const element = { lease, opId: id, cursor: { key: "a" } };

test("a request in the documented form passes", () => {
  expect(check({ elements: [element, { ...element, cursor: { key64: "_w" }, renew: true }] })).toMatchObject({
    ok: true,
  });
});

test.each([
  [{ elements: [{ ...element, renw: true }] }, "elements.0.renw"],
  [{ elements: [element, { ...element, cursor: { kee: "a" } }] }, "elements.1.cursor.kee"],
  [{ elements: [element], waitMs: 5 }, "waitMs"],
  [{ elements: [{ lease, cursor: {} }] }, "elements.0.opId"],
  [{ elements: [{ ...element, opId: "FF" }] }, "elements.0.opId"],
  [{ elements: [{ ...element, lease: { ...lease, fence: 2 } }] }, "elements.0.lease.fence"],
  [{ elements: [{ ...element, lease: { ...lease, fence: "02" } }] }, "elements.0.lease.fence"],
  [{ elements: [] }, "elements"],
  [{ elements: Array.from({ length: MAX_ELEMENTS + 1 }, () => element) }, "elements"],
  [[], ""],
  [null, ""],
])("what is wrong is named by its place %#", (json, field) => {
  expect(check(json)).toMatchObject({ ok: false, error: { field } });
});

test("a refusal does not repeat the value", () => {
  const refused = check({ elements: [{ ...element, opId: "my-secret-token" }] });
  expect(JSON.stringify(refused)).not.toContain("secret");
});

test("a claim may wait, up to a limit", () => {
  const claim = validatorsOf("claim").body!;
  const elements = [{ run: id, worker: id, opId: id }];
  expect(claim.check({ elements, waitMs: 30_000 })).toMatchObject({ ok: true });
  expect(claim.check({ elements, waitMs: 3_000_000 })).toMatchObject({ error: { field: "waitMs" } });
});

test("every operation has validators for what it takes", () => {
  for (const name of OPERATION_NAMES) expect(validatorsOf(name)).toBe(validatorsOf(name));
  expect(makeValidator(Type.Object({ a: Type.String() })).check({ a: "x" })).toEqual({ ok: true, value: { a: "x" } });
});

test("what is wrong with a huge body is found without a look at all of it", () => {
  let reads = 0;
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (of, name) => {
        reads++;
        return Reflect.get(of, name) as unknown;
      },
    });
  const items = counted(Array.from({ length: 1_000_000 }, () => 1));
  const worker = { name: "w", host: "h", pid: 1, version: "1", startedAt: "1", itemCount: 0, ttlMs: "1000" };
  const checked = validatorsOf("registerWorker").body!.check({ ...worker, shards: items });
  expect(checked).toMatchObject({ ok: false, error: { field: "shards.0" } });
  const unknown = Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1] as const);
  const fields = counted({ lease, ...Object.fromEntries(unknown) });
  expect(validatorsOf("renew").body!.check({ elements: [fields] })).toMatchObject({
    error: { field: "elements.0.k0", expected: "no field of this name" },
  });
  expect(reads).toBeLessThan(100_000);
});

test("a body of a million nested lists is refused", () => {
  let nested: unknown = [];
  for (let depth = 0; depth < 1_000_000; depth++) nested = [nested];
  expect(check(nested)).toMatchObject({ ok: false, error: { field: "" } });
  expect(check({ elements: [{ ...element, cursor: nested }] })).toMatchObject({
    error: { field: "elements.0.cursor" },
  });
});
