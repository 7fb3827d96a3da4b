import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { S3Error } from "./s3-error.ts";

/** An object as a listing has it. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string | undefined;
  readonly modified: Date | undefined;
}

export interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** Continues after this page; `undefined` at the end. */
  readonly token: string | undefined;
}

/**
 * Characters that no XML may have, and references to control characters. A server may repeat the start of a listing with
 * them. Keys are encoded, and have none.
 */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&#(?:x0*[01]?[\da-f]|0*(?:[12]?\d|3[01]));/giu;

/** Reads the response to ListObjectsV2 with `encoding-type=url`. Throws `S3Error` if it is not one. */
export function parseListing(xml: string): ListingPage {
  const root = parsed(xml);
  if (root?.name !== "ListBucketResult") throw new S3Error("UnexpectedResponse");
  const isEncoded = textOf(root, "EncodingType") === "url";
  const objects = childrenOf(root, "Contents").map((element): ListedObject => {
    const key = textOf(element, "Key");
    const size = Number(textOf(element, "Size") ?? Number.NaN);
    if (key === undefined || !Number.isSafeInteger(size)) throw new S3Error("UnexpectedResponse");
    const modified = textOf(element, "LastModified");
    return {
      key: isEncoded ? decodeKey(key) : key,
      size,
      etag: textOf(element, "ETag")?.replaceAll('"', ""),
      modified: modified === undefined ? undefined : new Date(modified),
    };
  });
  const isTruncated = textOf(root, "IsTruncated") === "true";
  const token = textOf(root, "NextContinuationToken");
  if (isTruncated && token === undefined) throw new S3Error("UnexpectedResponse");
  return { objects, token: isTruncated ? token : undefined };
}

/** A key as `encoding-type=url` writes it: percent-encoded UTF-8, with a plus sign for a space. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    throw new S3Error("UnexpectedResponse");
  }
}

function parsed(xml: string): XmlElement | null {
  try {
    return parseXml(xml.replaceAll(NOT_XML, "\ufffd")).root;
  } catch (thrown) {
    throw new S3Error("UnexpectedResponse", { cause: thrown });
  }
}

function childrenOf(parent: XmlElement, name: string): XmlElement[] {
  return parent.children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === name);
}

function textOf(parent: XmlElement, name: string): string | undefined {
  return childrenOf(parent, name)[0]?.text;
}
