import { createHash, createHmac } from "node:crypto";

/** What signs a request. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface UnsignedRequest {
  readonly method: "GET";
  /** With the port, if it is not the default. */
  readonly host: string;
  /** As it is sent, already encoded. */
  readonly path: string;
  readonly query: ReadonlyMap<string, string>;
  readonly region: string;
  readonly at: Date;
}

const EMPTY_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** The headers that authenticate a request, by AWS Signature Version 4. */
export function signedHeaders(request: UnsignedRequest, credentials: Credentials): Record<string, string> {
  const { method, host, path, query, region, at } = request;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const headers: Record<string, string> = {
    host,
    "x-amz-content-sha256": EMPTY_BODY,
    "x-amz-date": time,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    path,
    encodeQuery(query),
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    "",
    names.join(";"),
    EMPTY_BODY,
  ].join("\n");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  let key: Buffer | string = `AWS4${secretAccessKey}`;
  for (const part of scope.split("/")) key = hmac(key, part);
  const signature = hmac(key, toSign).toString("hex");
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names.join(";")},Signature=${signature}`,
  };
}

/** A query as it is signed and sent: names in order, everything encoded that may be. */
export function encodeQuery(query: ReadonlyMap<string, string>): string {
  return [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
}

/** The path of an object: each part encoded, slashes as they are. */
export function encodePath(key: string): string {
  return key.split("/").map(encode).join("/");
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
