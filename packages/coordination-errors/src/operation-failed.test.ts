// People who prefer `catch` get a real Error. It must be recognized when two copies of the package are loaded, which
// `instanceof` does not do, and it must say no more than the error that it carries.

import { inspect } from "node:util";
import { FenceEpoch, LogicalTime } from "@gossip/contracts";
import { err, InvariantViolation, ok } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { adviceFor } from "./advice.ts";
import { coordError } from "./coord-error.ts";
import { anyError } from "./error-samples.fixture.ts";
import { isOperationFailed, OperationFailed, orThrow } from "./operation-failed.ts";

const expired = coordError("LeaseExpired", { deadline: LogicalTime.fromRaw(5n), now: LogicalTime.fromRaw(6n) });

function caught(throwing: () => unknown): unknown {
  try {
    throwing();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}

describe("orThrow", () => {
  test("gives the value of a success", () => {
    expect(orThrow(ok(5))).toBe(5);
  });

  test("throws a failure with the error as its cause", () => {
    fc.assert(
      fc.property(anyError, (error) => {
        const thrown = caught(() => orThrow(err(error), "split"));
        expect(thrown).toBeInstanceOf(Error);
        expect(isOperationFailed(thrown)).toBe(true);
        expect(thrown).toMatchObject({ name: "OperationFailed", kind: error.kind, advice: adviceFor(error) });
        expect((thrown as OperationFailed).cause).toBe(error);
        expect((thrown as OperationFailed).message).toMatch(/^split failed with \w+: /);
      }),
    );
  });

  test.each([undefined, null, {}, err({ kind: "Odd" }), err(undefined)])("%o is no result of ours", (given) => {
    expect(() => orThrow(given as never)).toThrow(InvariantViolation);
  });
});

describe("OperationFailed", () => {
  test("has a stack, which starts with the message", () => {
    expect(new OperationFailed(expired, "renew").stack).toMatch(
      /^OperationFailed: renew failed with LeaseExpired: the lease ran out at 5, and it is 6\n/,
    );
  });

  test("names no operation where it knows none", () => {
    expect(new OperationFailed(expired).message).toBe(
      "operation failed with LeaseExpired: the lease ran out at 5, and it is 6",
    );
  });

  test("goes through JSON with its cause", () => {
    expect(JSON.parse(JSON.stringify(new OperationFailed(expired, "renew")))).toEqual({
      name: "OperationFailed",
      message: "renew failed with LeaseExpired: the lease ran out at 5, and it is 6",
      advice: "Reacquire",
      cause: { kind: "LeaseExpired", deadline: "0000000000000005", now: "0000000000000006" },
    });
  });

  test("shows its cause when it is printed", () => {
    expect(inspect(new OperationFailed(expired))).toContain("[cause]: LeaseExpired (deadline 5, now 6)");
  });

  test("narrows by kind", () => {
    const thrown: unknown = new OperationFailed(
      coordError("StaleFence", { presented: FenceEpoch.fromRaw(2n), current: FenceEpoch.fromRaw(3n) }),
    );
    expect(isOperationFailed(thrown) && thrown.cause.kind === "StaleFence" && thrown.cause.current).toBe(3n);
  });
});

describe("isOperationFailed", () => {
  test("recognizes one that another copy of this package made, where instanceof does not", async () => {
    vi.resetModules();
    const copy = await import("./operation-failed.ts");
    const foreign = new copy.OperationFailed(expired);
    expect(foreign instanceof OperationFailed).toBe(false);
    expect(isOperationFailed(foreign)).toBe(true);
    expect(copy.isOperationFailed(new OperationFailed(expired))).toBe(true);
  });

  test.each([
    undefined,
    null,
    0,
    "OperationFailed",
    {},
    new Error("OperationFailed"),
    expired,
    { name: "OperationFailed", kind: "LeaseExpired" },
  ])("%o is none", (given) => {
    expect(isOperationFailed(given)).toBe(false);
  });
});
