import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { S3Error } from "./s3-error.ts";
import { scanListing, type ListingTexts } from "./scan-listing.ts";

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
  const texts = scanListing(xml) ?? parseTexts(xml);
  const isEncoded = texts.encodingType === "url";
  const objects = texts.objects.map(({ key, size: sizeText, etag, modified }): ListedObject => {
    const size = Number(sizeText ?? Number.NaN);
    if (key === undefined || !Number.isSafeInteger(size)) throw new S3Error("UnexpectedResponse");
    return {
      key: isEncoded ? decodeKey(key) : key,
      size,
      etag: etag?.replaceAll('"', ""),
      modified: modified === undefined ? undefined : new Date(modified),
    };
  });
  const isTruncated = texts.isTruncated === "true";
  if (isTruncated && texts.token === undefined) throw new S3Error("UnexpectedResponse");
  return { objects, token: isTruncated ? texts.token : undefined };
}

/** The texts of any well-formed listing. Slow: most listings are scanned. */
export function parseTexts(xml: string): ListingTexts {
  const root = parsed(xml);
  if (root?.name !== "ListBucketResult") throw new S3Error("UnexpectedResponse");
  return {
    encodingType: textOf(root, "EncodingType"),
    isTruncated: textOf(root, "IsTruncated"),
    token: textOf(root, "NextContinuationToken"),
    objects: childrenOf(root, "Contents").map((element) => ({
      key: textOf(element, "Key"),
      size: textOf(element, "Size"),
      etag: textOf(element, "ETag"),
      modified: textOf(element, "LastModified"),
    })),
  };
}

/** A key as `encoding-type=url` writes it: percent-encoded UTF-8, with a plus sign for a space. */
function decodeKey(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
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
