// What S3 does under load: 503 SlowDown, a connection that breaks off, a bucket in another region.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bucketAddress } from "./bucket-address.ts";
import { withRetries } from "./retry.ts";
import { S3Client } from "./s3-client.ts";
import { S3Error } from "./s3-error.ts";
import type { Credentials } from "./sign.ts";

const SIGNAL = new AbortController().signal;
const EMPTY = "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated></ListBucketResult>";

let server: Server;
let client: S3Client;
let requests: IncomingMessage[];
let signer: Credentials | undefined;
let answer: (response: ServerResponse, attempt: number) => void;

beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    requests.push(request);
    answer(response, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  signer = { accessKeyId: "a", secretAccessKey: "b" };
  const credentials = { get: async () => signer };
  client = new S3Client({ bucket: "bucket", region: "us-east-1", endpoint, credentials, now: () => new Date(0) });
});
afterEach(async () => {
  client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("a server that asks to slow down, and one that breaks off, are asked again", async () => {
  answer = (response, attempt) => {
    if (attempt === 1) response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
    else if (attempt === 2)
      response.writeHead(200, { "content-length": "1000" }).write("<List", () => response.destroy());
    else response.end(EMPTY);
  };
  expect(await client.list({ prefix: "" }, SIGNAL)).toEqual({ objects: [], token: undefined });
  expect(requests).toHaveLength(3);
});

test("a refusal is not asked again, and its error does not repeat what the server wrote", async () => {
  answer = (response) => response.writeHead(403).end("<Error><Code>AccessDenied</Code><Key>private</Key></Error>");
  const failed = client.list({ prefix: "" }, SIGNAL);
  await expect(failed).rejects.toMatchObject({ code: "AccessDenied", status: 403 });
  await expect(failed).rejects.not.toThrow(/private/);
  expect(requests).toHaveLength(1);
});

test("a refusal of a request without a signature says that there were no credentials", async () => {
  answer = (response) => response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
  signer = undefined;
  await expect(client.list({ prefix: "" }, SIGNAL)).rejects.toMatchObject({ code: "NoCredentials", status: 403 });
  expect(requests[0]!.headers.authorization).toBe(undefined);
});

test("a server that names another region is asked again with it", async () => {
  answer = (response, attempt) => {
    if (attempt === 1)
      response
        .writeHead(400, { "x-amz-bucket-region": "eu-west-1" })
        .end("<Error><Code>AuthorizationHeaderMalformed</Code></Error>");
    else response.end(EMPTY);
  };
  await client.list({ prefix: "" }, SIGNAL);
  await client.list({ prefix: "" }, SIGNAL);
  const regions = requests.map(({ headers }) => /\/([\w-]+)\/s3\//.exec(headers.authorization!)![1]);
  expect(regions).toEqual(["us-east-1", "eu-west-1", "eu-west-1"]);
});

test("what is not a listing is refused", async () => {
  answer = (response) => response.end("<html>hello</html>");
  await expect(client.list({ prefix: "" }, SIGNAL)).rejects.toMatchObject({ code: "UnexpectedResponse" });
});

test("pauses double up to their limit, are drawn at random, and end with the last attempt", async () => {
  const pauses: number[] = [];
  const tools = { random: () => 0.5, pause: async (ms: number) => void pauses.push(ms) };
  const attempt = async (): Promise<never> => {
    throw new S3Error("SlowDown", { status: 503 });
  };
  await expect(withRetries(attempt, SIGNAL, tools)).rejects.toMatchObject({ code: "SlowDown" });
  expect(pauses).toEqual([100, 200, 400, 800, 1600]);
});

test.each([
  ["bucket", "eu-west-1", undefined, "https://bucket.s3.eu-west-1.amazonaws.com/", ""],
  ["with.dots", "eu-west-1", undefined, "https://s3.eu-west-1.amazonaws.com/", "/with.dots"],
  ["bucket", "cn-north-1", undefined, "https://bucket.s3.cn-north-1.amazonaws.com.cn/", ""],
  ["bucket", "us-east-1", "http://127.0.0.1:9000/base/", "http://127.0.0.1:9000/base/", "/base/bucket"],
])("the address of %s in %s at %s", (bucket, region, endpoint, origin, basePath) => {
  const address = bucketAddress(bucket, region, endpoint);
  expect([address.origin.href, address.basePath]).toEqual([origin, basePath]);
});
