// A listing is scanned instead of parsed, because parsing took most of the time. A key that the scan reads wrong is an
// object that is never found.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseListing, parseTexts } from "./parse-listing.ts";
import { scanListing, type ListingTexts } from "./scan-listing.ts";

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (char) => `&#${char === "<" ? "x3C" : char.charCodeAt(0)};`);
const texts = fc.string({
  unit: fc.constantFrom("a", "/", "&", "<", ">", '"', "'", ";", "ü", "🦊", " ", "\n", "]", "-", "!"),
});
const object = fc.record({
  key: texts,
  size: fc.nat().map(String),
  etag: fc.option(texts, { nil: undefined }),
  modified: fc.constantFrom("2026-11-17T00:00:00.000Z", undefined),
});
const listing = fc.record({
  objects: fc.array(object, { maxLength: 4 }),
  encodingType: fc.constantFrom("url", undefined),
  isTruncated: fc.constantFrom("true", "false", undefined),
  token: fc.option(texts, { nil: undefined }),
});

const element = (name: string, text: string | undefined): string =>
  text === undefined ? "" : `<${name}>${escaped(text)}</${name}>`;

function xmlOf({ objects, encodingType, isTruncated, token }: ListingTexts): string {
  const contents = objects.map(
    ({ key, size, etag, modified }) =>
      `<Contents>\n${element("Key", key)}${element("LastModified", modified)}${element("ETag", etag)}${element("Size", size)}<Owner><ID>gossip</ID></Owner></Contents>`,
  );
  const head = `${element("Name", "bucket")}${element("EncodingType", encodingType)}${element("IsTruncated", isTruncated)}`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${head}${contents.join("")}${element("NextContinuationToken", token)}</ListBucketResult>`;
}

test("a scan finds what was written, and what a parser finds", () => {
  fc.assert(
    fc.property(listing, (written) => {
      const xml = xmlOf(written);
      expect(scanListing(xml)).toEqual(written);
      expect(parseTexts(xml)).toEqual(written);
    }),
  );
});

test.each([
  ["a comment", "<ListBucketResult><!-- <Contents> --></ListBucketResult>"],
  ["CDATA", "<ListBucketResult><Contents><Key><![CDATA[<a>]]></Key><Size>1</Size></Contents></ListBucketResult>"],
  ["an attribute", '<ListBucketResult><Contents><Key a="b">k</Key><Size>1</Size></Contents></ListBucketResult>'],
  ["an empty element", "<ListBucketResult><Contents><Key>k</Key><ETag/><Size>1</Size></Contents></ListBucketResult>"],
  ["an unknown reference", "<ListBucketResult><Contents><Key>&nbsp;</Key><Size>1</Size></Contents></ListBucketResult>"],
  ["an object without an end", "<ListBucketResult><Contents><Key>k</Key></ListBucketResult>"],
  ["another root", "<html><ListBucketResult></ListBucketResult></html>"],
  ["text that breaks off", "<ListBucketResult><Contents><Key>k</Key>"],
])("%s is left to the parser", (_, xml) => {
  expect(scanListing(xml)).toBe(undefined);
});

test("a listing that only the parser reads is read", () => {
  const xml =
    "<ListBucketResult><Contents><Key><![CDATA[<a>]]></Key><ETag/><Size>1</Size></Contents></ListBucketResult>";
  expect(parseListing(xml).objects).toEqual([{ key: "<a>", size: 1, etag: "", modified: undefined }]);
  expect(() => parseListing("<html></html>")).toThrow("UnexpectedResponse");
});
