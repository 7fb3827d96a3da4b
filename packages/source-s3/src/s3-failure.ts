import { Redacted } from "@gossip/stdx";
import { SourceReadFailed, type SourceError } from "@gossip/worker";
import { S3Error } from "./client/s3-error.ts";

const REASONS: Readonly<Record<string, SourceError>> = {
  NoSuchBucket: { kind: "SourceMissing", reason: "there is no such bucket" },
  NoSuchKey: { kind: "SourceMissing", reason: "the object has been deleted" },
  InvalidBucketName: { kind: "SourceInvalid", reason: "the name of the bucket is not valid" },
  InvalidAccessKeyId: { kind: "SourceUnreadable", reason: "the server does not know the access key" },
  SignatureDoesNotMatch: { kind: "SourceUnreadable", reason: "the server refuses the secret key" },
  AccessDenied: { kind: "SourceUnreadable", reason: "the credentials may not list the bucket or read the object" },
  ExpiredToken: { kind: "SourceUnreadable", reason: "the session token has expired" },
  NoSuchProfile: { kind: "SourceInvalid", reason: "the profile that AWS_PROFILE names is in no file" },
  NoContainerCredentials: { kind: "SourceUnreadable", reason: "the container's endpoint gives no credentials" },
  AssumeRoleRefused: { kind: "SourceUnreadable", reason: "the token is not accepted for the role" },
  NoTokenFile: { kind: "SourceUnreadable", reason: "the file with the token for credentials cannot be read" },
  UnexpectedCredentials: { kind: "SourceUnreadable", reason: "the server that gives credentials gives something else" },
  CredentialsEnded: { kind: "SourceUnreadable", reason: "the credentials have ended and cannot be renewed" },
  NoCredentials: {
    kind: "SourceUnreadable",
    reason:
      "no credentials were found, and the bucket is not public; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
  },
  UnexpectedResponse: { kind: "SourceInvalid", reason: "what answers is not an S3 server" },
};

/** Converts what was thrown to an error without what the server wrote, which may quote keys. */
export function sourceErrorFrom(thrown: unknown): SourceError {
  if (thrown instanceof SourceReadFailed) return thrown.error;
  if (!(thrown instanceof S3Error)) return { kind: "SourceUnreadable", reason: "the object store failed" };
  const known = REASONS[thrown.code];
  if (known !== undefined) return { ...known, reason: `${known.reason} (${thrown.code})` };
  const what = thrown.status === undefined ? "cannot be reached" : "refuses the request";
  return { kind: "SourceUnreadable", reason: `the object store ${what} (${thrown.code})` };
}

/** Thrown by a read. */
export function readFailureFrom(thrown: unknown): SourceReadFailed {
  if (thrown instanceof SourceReadFailed) return thrown;
  return new SourceReadFailed(sourceErrorFrom(thrown), { cause: new Redacted(thrown) });
}
