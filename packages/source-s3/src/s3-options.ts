import { homedir } from "node:os";
import { assert } from "@gossip/stdx";
import { S3Client } from "./client/s3-client.ts";
import type { Credentials } from "./client/sign.ts";
import { CredentialChain } from "./credentials/credential-source.ts";
import { fromEnvironment, type Environment } from "./credentials/from-environment.ts";
import { fromContainer, fromInstance } from "./credentials/metadata.ts";
import { fromProfile, readProfile } from "./credentials/profile-file.ts";
import { fromWebIdentity } from "./credentials/web-identity.ts";

const DEFAULT_REGION = "us-east-1";

export interface S3SourceOptions {
  readonly bucket: string;
  /** Keys begin with it. Default: all keys. */
  readonly prefix?: string;
  /** The URL of a server that is not AWS: `http://127.0.0.1:9000`. Default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, AWS. */
  readonly endpoint?: string | undefined;
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's region, us-east-1. A server that names another is followed. */
  readonly region?: string | undefined;
  /**
   * Default: the environment, a web identity, the profile file, the container's endpoint, the instance's role. `"None"`
   * sends requests without a signature, as for public buckets.
   */
  readonly credentials?: Credentials | "None" | undefined;
  /** Where the defaults are read from. Default: the environment of the process. */
  readonly env?: Environment;
}

export function assertOptions({ bucket, prefix, endpoint }: S3SourceOptions): void {
  assert(typeof bucket === "string", "bucket must be a string");
  assert(prefix === undefined || typeof prefix === "string", "prefix must be a string");
  assert(endpoint === undefined || URL.canParse(endpoint), "endpoint must be a URL");
}

/** A client with the settings and credentials that the options, the environment and the profile give. */
export async function makeClient(options: S3SourceOptions): Promise<S3Client> {
  const { bucket, credentials, env = process.env } = options;
  const now = (): Date => new Date();
  // Keys that are given need no profile, so an unreadable file does not matter.
  const profile =
    credentials === undefined && fromEnvironment(env) === undefined ? await readProfile(env, homedir()) : {};
  const region =
    options.region || env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || profile["region"] || DEFAULT_REGION;
  const endpoint =
    options.endpoint || env["AWS_ENDPOINT_URL_S3"] || env["AWS_ENDPOINT_URL"] || profile["endpoint_url"] || undefined;
  const chain = [
    async () => fromEnvironment(env),
    fromWebIdentity(env, region),
    async () => fromProfile(profile),
    fromContainer(env),
    fromInstance(env),
  ];
  const given = credentials === "None" ? undefined : credentials;
  const source =
    credentials === undefined
      ? new CredentialChain(chain, now)
      : { get: async (): Promise<Credentials | undefined> => given };
  return new S3Client({ bucket, region, endpoint, credentials: source, now });
}
