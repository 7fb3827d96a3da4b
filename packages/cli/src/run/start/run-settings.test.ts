// The id of a run is what lets the same command find its place again. Two commands with one id would share a run; one command
// with two ids would do everything twice.
import { isDeepStrictEqual } from "node:util";
import { RunId } from "@gossip/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeSettings,
  describeWork,
  encodeSettings,
  fingerprintOf,
  runIdOf,
  type RunSettings,
} from "./run-settings.ts";

const text = fc.string({ maxLength: 12 });
const optional = fc.option(text, { nil: undefined });
const settings: fc.Arbitrary<RunSettings> = fc.record({
  name: optional,
  source: text,
  selection: fc.record(
    { limit: fc.nat(3), include: fc.array(text, { maxLength: 2 }), exclude: fc.array(text, { maxLength: 2 }) },
    { requiredKeys: [] },
  ),
  exec: optional,
  module: optional,
  out: optional,
});

describe("the identity of a run", () => {
  test("comes from its settings, and from all of them", () => {
    fc.assert(
      fc.property(settings, settings, (a, b) => {
        const isSame = isDeepStrictEqual({ ...a, name: "" }, { ...b, name: "" });
        expect(fingerprintOf(a) === fingerprintOf(b)).toBe(isSame);
        expect(runIdOf({ ...a, name: undefined }, 0) === runIdOf({ ...b, name: undefined }, 0)).toBe(isSame);
      }),
    );
  });

  test("is its name alone where it has one, so that other settings are noticed", () => {
    fc.assert(
      fc.property(settings, settings, text, (a, b, name) => {
        expect(runIdOf({ ...a, name }, 0)).toBe(runIdOf({ ...b, name }, 0));
      }),
    );
  });

  test("is another in every generation", () => {
    fc.assert(
      fc.property(settings, (given) => {
        expect(new Set([0, 1, 2, 3].map((generation) => runIdOf(given, generation))).size).toBe(4);
      }),
    );
  });

  test("never changes: a store of last year is found again", () => {
    const given = {
      name: undefined,
      source: "fs:/data",
      selection: {},
      exec: "sha256sum {}",
      module: undefined,
      out: "/out.ndjson",
    };
    expect(RunId.format(runIdOf(given, 0))).toBe("2244393e7bb41799");
    expect(RunId.format(runIdOf({ ...given, name: "nightly" }, 1))).toBe("6a43856a86f5646c");
  });
});

test("settings come back from the bytes that shards carry, a long command cut but told apart", () => {
  fc.assert(
    fc.property(settings, (given) => {
      expect(decodeSettings(encodeSettings(given))).toEqual({ ...given, fingerprint: fingerprintOf(given) });
    }),
  );
  const long = {
    name: undefined,
    source: "fs:/",
    selection: {},
    exec: `echo ${"x".repeat(100_000)}`,
    module: undefined,
    out: undefined,
  };
  expect(encodeSettings(long).length).toBeLessThan(1000);
  expect(encodeSettings(long)).not.toEqual(encodeSettings({ ...long, exec: `${long.exec}y` }));
});

test("no password of a URL is kept, but another password is another run", () => {
  const given = {
    name: undefined,
    source: "fs:/",
    selection: {},
    exec: "curl http://me:hunter2@h/{} 'ftp://x:hunter2@y'",
    module: undefined,
    out: undefined,
  };
  expect(Buffer.from(encodeSettings(given)).toString()).not.toContain("hunter2");
  expect(describeWork(given)).toBe("fs:/ through curl http://me:…@h/{} 'ftp://x:…@y'");
  expect(fingerprintOf(given)).not.toBe(fingerprintOf({ ...given, exec: given.exec.replaceAll("hunter2", "hunter3") }));
});

test("bytes of another program are no settings", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => decodeSettings(bytes) === undefined));
  expect(decodeSettings(Buffer.from('{"gossip":2}'))).toBeUndefined();
});
