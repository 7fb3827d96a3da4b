/** The texts of a listing's elements, as they stand in the XML with their references resolved. */
export interface ListingTexts {
  readonly encodingType: string | undefined;
  readonly isTruncated: string | undefined;
  readonly token: string | undefined;
  readonly objects: readonly ObjectTexts[];
}

export interface ObjectTexts {
  readonly key: string | undefined;
  readonly size: string | undefined;
  readonly etag: string | undefined;
  readonly modified: string | undefined;
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const ROOT = /^(?:\uFEFF)?\s*(?:<\?xml [^?]*\?>\s*)?<ListBucketResult(?:\s[^<>]*)?>[^]*<\/ListBucketResult>\s*$/;

/**
 * Finds the elements of a listing by their tags, several times as fast as a parser builds a tree. Returns `undefined`
 * unless the text has the form that servers write: no comments or CDATA, and no attributes where texts are taken from.
 */
export function scanListing(xml: string): ListingTexts | undefined {
  if (xml.includes("<!") || !ROOT.test(xml)) return undefined;
  const objects: ObjectTexts[] = [];
  try {
    for (let at = xml.indexOf("<Contents"); at !== -1;) {
      const end = xml.indexOf("</Contents>", at);
      if (end === -1 || !xml.startsWith("<Contents>", at)) return undefined;
      const object = xml.slice(at, end);
      objects.push({
        key: textIn(object, "Key"),
        size: textIn(object, "Size"),
        etag: textIn(object, "ETag"),
        modified: textIn(object, "LastModified"),
      });
      at = xml.indexOf("<Contents", end);
    }
    // Behind the objects, or before them: a text has no tags in it, and an object has no such elements.
    return {
      objects,
      encodingType: textIn(xml, "EncodingType"),
      isTruncated: textIn(xml, "IsTruncated"),
      token: textIn(xml, "NextContinuationToken"),
    };
  } catch (thrown) {
    if (thrown === UNUSUAL) return undefined;
    throw thrown;
  }
}

const UNUSUAL = new Error("the listing has another form");

/** The text of the first element of this name. */
function textIn(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}`);
  if (start === -1) return undefined;
  const from = start + name.length + 2;
  if (xml[from - 1] !== ">") throw UNUSUAL;
  const end = xml.indexOf("<", from);
  if (!xml.startsWith(`</${name}>`, end)) throw UNUSUAL;
  const text = xml.slice(from, end);
  return text.includes("&") ? resolveAll(text) : text;
}

/** Resolves references. The tag of every object is between two quotes; other references are rare. */
function resolveAll(text: string): string {
  const quoted = text.replaceAll("&quot;", '"');
  return quoted.includes("&") ? quoted.replaceAll(/&([^;]*);?/g, resolved) : quoted;
}

function resolved(_: string, name: string): string {
  const named = NAMED[name];
  if (named !== undefined) return named;
  const [, hex, decimal] = /^#(?:x([\da-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? [];
  const codePoint = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
  if (!(codePoint <= 0x10_ffff)) throw UNUSUAL;
  return String.fromCodePoint(codePoint);
}
