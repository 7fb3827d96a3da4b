// Another program, in another language, will be written from docs/reference/record-format.md. Where the page and the
// code differ, its records look damaged to us, and ours to it. So the page is read here, and is what is tested.
//
// If a change makes this fail, do not mend the page to fit: bytes of the old layout are on disks. See its last section.

import {
  CursorSemantics,
  MAX_INITIAL_SHARDS,
  MAX_KEY_SIZE,
  MAX_METADATA_SIZE,
  MAX_SPAWNED_PER_SHARD,
  MAX_TOKEN_SIZE,
  ParkReason,
  RUN_OP_LOG_CAP,
  RunStatus,
  SHARD_OP_LOG_CAP,
  ShardStatus,
  toJsonSafe,
} from "@gossip/contracts";
import { OpKind, OpResult, RunOpKind } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { decodeBlobHeader } from "./blob-header.ts";
import { BlobKind, CODEC_VERSION, KINDS_BY_VERSION } from "./blob-kind.ts";
import type { CodecError } from "./codec-error.ts";
import { decodeRunRecord } from "./decode-run-record.ts";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { decodeDeletedRun, encodeDeletedRun } from "./deleted-run.ts";
import { encodeRunRecord } from "./encode-run-record.ts";
import { encodeShardRecord } from "./encode-shard-record.ts";
import { RUN_OP_RESULT } from "./enum-field.ts";
import { bytesOf, layoutOf, tableUnder, VECTORS, type Vector } from "./format-page.fixture.ts";
import { resealed } from "./layout.fixture.ts";

/** Decode a vector as what it says it is. */
function decode({ blob }: Vector) {
  const { kind } = unwrap(decodeBlobHeader(blob));
  switch (kind) {
    case "Run":
      return decodeRunRecord(blob);
    case "DeletedRun":
      return decodeDeletedRun(blob);
    case "Shard":
    case "Owner":
      return decodeShardRecord(blob);
  }
}

function encodeAgain({ blob }: Vector): Uint8Array {
  const { kind } = unwrap(decodeBlobHeader(blob));
  if (kind === "Run") return encodeRunRecord(unwrap(decodeRunRecord(blob)));
  if (kind === "DeletedRun") return encodeDeletedRun(unwrap(decodeDeletedRun(blob)));
  return encodeShardRecord(unwrap(decodeShardRecord(blob)));
}

const records = VECTORS.filter(({ json }) => json !== undefined);
const isWritten = ({ blob }: Vector): boolean => unwrap(decodeBlobHeader(blob)).version === CODEC_VERSION;

describe("vectors", () => {
  test("there is one of every kind in every version", () => {
    const seen = new Set(VECTORS.map(({ blob }) => JSON.stringify(unwrap(decodeBlobHeader(blob)))));
    const expected = Object.entries(KINDS_BY_VERSION).flatMap(([version, kinds]) =>
      kinds.flatMap((kind) => (kind === undefined ? [] : [JSON.stringify({ version: Number(version), kind })])),
    );
    expect([...seen].sort()).toEqual(expected.sort());
  });

  test.each(VECTORS)("$title: has the size that is stated", ({ blob, statedSize }) => {
    expect(blob.length).toBe(statedSize);
  });

  test.each(records)("$title: decodes to the record beside it", (vector) => {
    expect(toJsonSafe(unwrap<object>(decode(vector)))).toEqual(vector.json);
  });

  test.each(records.filter(isWritten))("$title: is what its record encodes to", (vector) => {
    expect(encodeAgain(vector)).toEqual(vector.blob);
  });

  test.each(records.filter((vector) => !isWritten(vector)))(
    "$title: encodes to the newest version and stays the same record",
    (vector) => {
      const upgraded = { ...vector, blob: encodeAgain(vector) };
      expect(isWritten(upgraded)).toBe(true);
      expect(decode(upgraded)).toEqual(decode(vector));
    },
  );

  test("an owner is skipped by its name, and not read", () => {
    const owner = VECTORS.find(({ title }) => title.endsWith("an owner"))!;
    expect(decode(owner)).toEqual({
      ok: false,
      error: { kind: "UnexpectedBlobKind", expected: "Shard", actual: "Owner" },
    });
  });
});

describe("tables", () => {
  const numbers = (codes: Readonly<Record<string, number>>): string =>
    Object.entries(codes)
      .map(([name, code]) => `${name} ${code}`)
      .join(", ");

  test("name the number of every kind, and the versions that have it", () => {
    const versions = (kind: BlobKind): string =>
      Object.entries(KINDS_BY_VERSION)
        .filter(([, kinds]) => kinds[BlobKind.codes[kind]] === kind)
        .map(([version]) => version)
        .join(", ");
    expect(tableUnder("### Kinds")).toEqual(
      BlobKind.values.map((kind) => [`\`${kind}\``, String(BlobKind.codes[kind]), versions(kind)]),
    );
  });

  test("name the numbers of all names", () => {
    const enums = {
      ShardStatus,
      ParkReason,
      CursorSemantics,
      OpKind,
      OpResult,
      RunStatus,
      RunOpKind,
      RunOpResult: RUN_OP_RESULT,
    };
    expect(tableUnder("### Numbers of names")).toEqual(
      Object.entries(enums).map(([name, { codes }]) => [`\`${name}\``, numbers(codes)]),
    );
  });

  test.each(records)("$title: goes through the fields of its layout in their order", (vector) => {
    const { version, kind } = unwrap(decodeBlobHeader(vector.blob));
    const rows = tableUnder(`## ${kind}`);
    const layout = layoutOf(kind as "Shard" | "Run" | "DeletedRun");
    const met = [...new Set(vector.fields)];
    expect(met).toEqual(layout.filter((field) => met.includes(field)));
    // Nothing is left out but what is of a later version, or inside something that is not there.
    const missing = layout.filter((field) => !met.includes(field));
    const isLater = (field: string): boolean => Number(rows[layout.indexOf(field)]![2]) > version;
    const isInside = (field: string): boolean => met.some((outer) => field.startsWith(`${outer}.`));
    expect(missing.filter((field) => !isLater(field) && !isInside(field))).toEqual([]);
  });

  test.each([
    [
      "Shard",
      {
        "spec.keyRangeStart": MAX_KEY_SIZE,
        "spec.keyRangeEnd": MAX_KEY_SIZE,
        "spec.metadata": MAX_METADATA_SIZE,
        "cursor.lastKey": MAX_KEY_SIZE,
        "cursor.token": MAX_TOKEN_SIZE,
        spawned: MAX_SPAWNED_PER_SHARD,
        opLog: SHARD_OP_LOG_CAP,
      },
    ],
    ["Run", { rootShards: MAX_INITIAL_SHARDS, opLog: RUN_OP_LOG_CAP, "opLog.result.shards": MAX_INITIAL_SHARDS }],
  ])("name the limits of a %s", (kind, limits) => {
    const stated = tableUnder(`## ${kind}`)
      .filter(([, , , most]) => most !== "")
      .map(([field, , , most]) => [field!.replaceAll("`", ""), Number(most!.replaceAll(",", ""))]);
    expect(Object.fromEntries(stated)).toEqual(limits);
  });

  test.each(tableUnder("## What is refused"))("%s is refused as stated", (hex, answer) => {
    const error = JSON.parse(answer!.replaceAll("`", "")) as CodecError;
    expect(decodeShardRecord(bytesOf(hex!.replaceAll("`", "")))).toEqual({ ok: false, error });
  });

  test("an error names a field by the name that the page gives it", () => {
    for (const vector of records.filter(isWritten)) {
      const layout = layoutOf(unwrap(decodeBlobHeader(vector.blob)).kind as "Shard" | "Run" | "DeletedRun");
      for (let at = 3; at < vector.blob.length - 4; at++) {
        const broken = vector.blob.slice();
        broken[at] = 0xff;
        const decoded = decode({ ...vector, blob: resealed(broken) });
        if (!decoded.ok && "field" in decoded.error) expect(layout).toContain(decoded.error.field);
      }
    }
  });
});
