/**
 * For the other packages of this repository only. Anything here can change or disappear in any release, without a major
 * version. Published packages contain no types for this entry.
 *
 * @internal
 */
export { assertObject, nameType } from "./assert.ts";
export { decodeBase64Url, encodeBase64Url } from "./base64url.ts";
export { HALVES, HIGH, LOW, WHOLE } from "./u64-halves.ts";
