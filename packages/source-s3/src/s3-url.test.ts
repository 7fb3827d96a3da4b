import { expect, test } from "vitest";
import { parseS3Url } from "./s3-url.ts";

test.each([
  ["s3://bucket", { bucket: "bucket", prefix: "" }],
  ["s3://bucket/", { bucket: "bucket", prefix: "" }],
  ["s3://bucket/a//b c?d#e", { bucket: "bucket", prefix: "a//b c?d#e" }],
])("%s", (text, value) => {
  expect(parseS3Url(text)).toEqual({ ok: true, value });
});

test.each(["bucket", "s3://", "s3:///key", "http://bucket/key", "s3://.bucket", "s3://bucket/\ud800"])(
  "%s is refused",
  (text) => {
    expect(parseS3Url(text)).toMatchObject({ ok: false, error: { kind: "SourceInvalid" } });
  },
);

test("a name that no bucket can have is refused with what names consist of", () => {
  expect(parseS3Url("s3://b/photos")).toMatchObject({
    ok: false,
    error: { kind: "SourceInvalid", reason: expect.stringContaining("at least two letters, digits") },
  });
});

test("a directory bucket is refused with the reason", () => {
  expect(parseS3Url("s3://logs--use1-az4--x-s3/a")).toMatchObject({
    ok: false,
    error: { kind: "SourceInvalid", reason: expect.stringContaining("StartAfter") },
  });
});
