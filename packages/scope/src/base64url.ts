/** Bytes in the alphabet of URLs, without padding: their form in JSON. */
export function toBase64Url(bytes: Uint8Array): string {
  let units = "";
  for (const byte of bytes) units += String.fromCharCode(byte);
  return btoa(units).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes, or `undefined` for anything that `toBase64Url` would not have written. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0));
  // Bits beyond the last byte must be zero, so that one string of bytes has one form.
  return toBase64Url(bytes) === text ? bytes : undefined;
}
