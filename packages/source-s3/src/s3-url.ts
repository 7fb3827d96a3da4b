import { err, ok, type Result } from "@gossip/stdx";
import type { SourceError } from "@gossip/worker";

export interface S3Location {
  readonly bucket: string;
  /** Empty: the whole bucket. */
  readonly prefix: string;
}

/** Reads `s3://bucket/prefix`. The prefix is taken as it is: it has no escapes. */
export function parseS3Url(text: string): Result<S3Location, SourceError> {
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)(?:\/([^]*))?$/.exec(text) ?? [];
  if (bucket === undefined) return invalid("write s3://BUCKET/PREFIX");
  return checkLocation({ bucket, prefix });
}

/** Whether a listing of the bucket can be cut by key. */
export function checkLocation({ bucket, prefix }: S3Location): Result<S3Location, SourceError> {
  if (!/^[a-z0-9][a-z0-9._-]{1,254}$/i.test(bucket))
    return invalid(
      "the name of the bucket is not valid: it has at least two letters, digits, dots, hyphens and underscores",
    );
  if (bucket.endsWith("--x-s3"))
    return invalid(
      "a directory bucket cannot be listed from a key on (S3 ignores StartAfter there): use a general purpose bucket",
    );
  if (/\p{Surrogate}/u.test(prefix)) return invalid("the prefix is not valid Unicode");
  return ok({ bucket, prefix });
}

function invalid(reason: string): Result<never, SourceError> {
  return err({ kind: "SourceInvalid", reason });
}
