// Every acquire asks for the head of its run. One that differs from the record's gives a lease of another length, or to
// a run that is over.

import { ok } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeRunHead } from "./decode-run-record.ts";
import { encodeDeletedRun } from "./deleted-run.ts";
import { encodeRunRecord } from "./encode-run-record.ts";
import { expectSame } from "./expect-same.fixture.ts";
import { runBlob, sealed } from "./layout.fixture.ts";
import { runRecord } from "./records.fixture.ts";
import { DONE_RUN } from "./samples.fixture.ts";

describe("decodeRunHead", () => {
  test("is what the record says, in either version", () => {
    fc.assert(
      fc.property(runRecord, (record) => {
        const { tenant, run, config, status } = record;
        expectSame(decodeRunHead(encodeRunRecord(record)), ok({ tenant, run, config, status }));
        expect(decodeRunHead(runBlob(record, 1))).toMatchObject(ok({ tenant, run, config, status }));
      }),
    );
  });

  test("every cut and every flipped bit of the whole is found", () => {
    const blob = encodeRunRecord(DONE_RUN);
    for (let at = 0; at < blob.length; at++) {
      expect(decodeRunHead(blob.slice(0, at)).ok).toBe(false);
      for (let bit = 0; bit < 8; bit++) {
        const damaged = blob.slice();
        damaged[at]! ^= 1 << bit;
        expect(decodeRunHead(damaged).ok).toBe(false);
      }
    }
  });

  test("version 1, which has no checksum, is read to its end", () => {
    const blob = runBlob(DONE_RUN, 1);
    expect(decodeRunHead(blob.slice(0, -1))).toMatchObject({ ok: false, error: { kind: "Truncated" } });
  });

  test("a head that was wrong when it was written is refused", () => {
    const cut = runBlob(DONE_RUN, 2).slice(0, 50);
    const endless = { ...DONE_RUN, config: { ...DONE_RUN.config, leaseDuration: 0n } };
    expect(decodeRunHead(sealed(cut))).toEqual({ ok: false, error: { kind: "Truncated", needed: 8, remaining: 6 } });
    expect(decodeRunHead(runBlob(endless, 2))).toEqual({
      ok: false,
      error: { kind: "InvariantViolation", blob: "Run", detail: "the configuration must be valid" },
    });
  });

  test("a run that was deleted has none", () => {
    expect(decodeRunHead(encodeDeletedRun(DONE_RUN))).toEqual({
      ok: false,
      error: { kind: "UnexpectedBlobKind", expected: "Run", actual: "DeletedRun" },
    });
  });
});
