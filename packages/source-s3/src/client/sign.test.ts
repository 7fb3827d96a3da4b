// A signature that is wrong in one byte is refused, and only for some requests: those with odd characters, or a session.
import { expect, test } from "vitest";
import { encodePath, encodeQuery, signedHeaders } from "./sign.ts";

const CREDENTIALS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

test("the published example of a listing has the published signature", () => {
  const { authorization } = signedHeaders(
    {
      method: "GET",
      host: "examplebucket.s3.amazonaws.com",
      path: "/",
      query: new Map([
        ["prefix", "J"],
        ["max-keys", "2"],
      ]),
      region: "us-east-1",
      at: new Date("2013-05-24T00:00:00Z"),
    },
    CREDENTIALS,
  );
  expect(authorization).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date," +
      "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
});

test("a session token is signed along", () => {
  const headers = signedHeaders(
    { method: "GET", host: "h", path: "/", query: new Map(), region: "r", at: new Date(0) },
    { ...CREDENTIALS, sessionToken: "token" },
  );
  expect(headers["authorization"]).toContain(
    "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,",
  );
});

test("queries are in order and encoded, and paths keep their slashes", () => {
  const query = new Map([
    ["start-after", "a b+c/ü'"],
    ["list-type", "2"],
  ]);
  expect(encodeQuery(query)).toBe("list-type=2&start-after=a%20b%2Bc%2F%C3%BC%27");
  expect(encodePath("a//b c/(1)")).toBe("a//b%20c/%281%29");
});
