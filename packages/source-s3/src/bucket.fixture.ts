// Buckets on a real server, with objects in them.
import { createHash } from "node:crypto";
import { request } from "node:http";
import type { RadosGateway } from "@gossip/tools/engines";
import { encodePath, signedHeaders } from "./client/sign.ts";

let count = 0;

/** A new bucket with these objects; each holds its own key. Returns its name. */
export async function makeBucket(server: RadosGateway, keys: readonly string[]): Promise<string> {
  const bucket = `gossip-${process.pid}-${++count}`;
  await send(server, "PUT", `/${bucket}`);
  await putObjects(server, bucket, keys);
  return bucket;
}

export async function putObjects(server: RadosGateway, bucket: string, keys: readonly string[]): Promise<void> {
  const waiting = [...keys];
  const put = async (): Promise<void> => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
      await send(server, "PUT", `/${bucket}/${encodePath(key)}`, key);
  };
  await Promise.all(Array.from({ length: 16 }, put));
}

export async function deleteObject(server: RadosGateway, bucket: string, key: string): Promise<void> {
  await send(server, "DELETE", `/${bucket}/${encodePath(key)}`);
}

async function send(
  { endpoint, credentials }: RadosGateway,
  method: "PUT" | "DELETE",
  path: string,
  body = "",
): Promise<void> {
  const { host, hostname, port } = new URL(endpoint);
  const bodyHash = createHash("sha256").update(body).digest("hex");
  const unsigned = {
    method,
    host,
    path,
    query: new Map<string, string>(),
    region: "us-east-1",
    at: new Date(),
    bodyHash,
  };
  const headers = { ...signedHeaders(unsigned, credentials), "content-length": String(Buffer.byteLength(body)) };
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode!));
    });
    sent.once("error", reject).end(body);
  });
  if (status >= 300) throw new Error(`${method} ${path} ended with ${status}`);
}
