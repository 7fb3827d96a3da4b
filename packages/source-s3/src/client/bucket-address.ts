import { encodePath } from "./sign.ts";

/** Where the objects of a bucket are. */
export interface BucketAddress {
  readonly origin: URL;
  /** Of every request: empty, or `/bucket` if the bucket is not part of the host name. */
  readonly basePath: string;
}

/**
 * The address of a bucket. With an endpoint, and for names with a dot, which no wildcard certificate covers, the bucket
 * is in the path; on AWS otherwise in the host name.
 */
export function bucketAddress(bucket: string, region: string, endpoint: string | undefined): BucketAddress {
  const inPath = `/${encodePath(bucket)}`;
  if (endpoint !== undefined) {
    const origin = new URL(endpoint);
    return { origin, basePath: origin.pathname.replace(/\/$/, "") + inPath };
  }
  const domain = domainOf(region);
  if (bucket.includes(".")) return { origin: new URL(`https://s3.${region}.${domain}`), basePath: inPath };
  return { origin: new URL(`https://${bucket}.s3.${region}.${domain}`), basePath: "" };
}

/** The domain of AWS that a region is in. */
export function domainOf(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}
