import { ok, type Result } from "@gossip/stdx";
import type { S3Item } from "@gossip/source-s3";
import { fail, type CliError } from "../../output/cli-error.ts";
import type { JobSource } from "./job-source.ts";
import type { Selection } from "./selection.ts";

/** Open the objects below a prefix: `s3://bucket/prefix`. */
export async function openBucket(text: string, { endpoint }: Selection): Promise<Result<JobSource, CliError>> {
  const { parseS3Url, s3Source } = await import("@gossip/source-s3");
  const location = parseS3Url(text);
  if (!location.ok) return fail("BadCommandLine", `the S3 source cannot be used: ${location.error.reason}.`);
  if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint)))
    return fail("BadCommandLine", "--endpoint is not a URL: write http://HOST:PORT or https://HOST.");
  const { bucket, prefix } = location.value;
  return ok({
    source: s3Source({ bucket, prefix, endpoint }),
    identity: `s3://${bucket}/${prefix}`,
    argumentOf: (item) => Buffer.from((item as S3Item).url),
    fieldsOf: (item) => ({ url: (item as S3Item).url }),
    itemJson: (item) => {
      const { url, bucket: inBucket, name, size, etag, modified } = item as S3Item;
      return { url, bucket: inBucket, name, size, etag, modified };
    },
  });
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}
