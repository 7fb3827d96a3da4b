// Credentials that the machine gives to what runs on it.
import { S3Error } from "../client/s3-error.ts";
import { readTokenFile, requestKeys } from "./credential-request.ts";
import type { CredentialLookup, TemporaryCredentials } from "./credential-source.ts";
import type { Environment } from "./from-environment.ts";

const CONTAINER_HOST = "http://169.254.170.2";
const INSTANCE_HOST = "http://169.254.169.254";
/** Outside a cloud, no server has these addresses, and packets to them may just disappear. */
const TIMEOUT_MS = 1_000;

/** The endpoint of a container: ECS, EKS Pod Identity. */
export function fromContainer(env: Environment): CredentialLookup {
  return async (signal) => {
    const relative = env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
    const url = relative ? `${CONTAINER_HOST}${relative}` : env["AWS_CONTAINER_CREDENTIALS_FULL_URI"];
    if (!url) return undefined;
    const file = env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
    const token = file ? await readTokenFile(file) : env["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
    const response = await requestKeys(url, { headers: token ? { authorization: token } : {} }, signal);
    if (!response.ok) throw new S3Error("NoContainerCredentials", { status: response.status });
    return readKeys(response);
  };
}

/** The role of an instance, by version 2 of the metadata service: a token first, then the role, then its keys. */
export function fromInstance(env: Environment): CredentialLookup {
  return async (signal) => {
    if (env["AWS_EC2_METADATA_DISABLED"]?.toLowerCase() === "true") return undefined;
    const host = (env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] || INSTANCE_HOST).replace(/\/$/, "");
    const session = { method: "PUT", headers: { "x-aws-ec2-metadata-token-ttl-seconds": "21600" } };
    const token = await ask(`${host}/latest/api/token`, session, signal);
    if (token === undefined) return undefined;
    const headers = { "x-aws-ec2-metadata-token": await token.text() };
    const folder = `${host}/latest/meta-data/iam/security-credentials/`;
    const roles = await ask(folder, { headers }, signal);
    const [role] = (await roles?.text())?.trim().split("\n") ?? [];
    if (!role) return undefined;
    const keys = await ask(folder + role, { headers }, signal);
    return keys === undefined ? undefined : readKeys(keys);
  };
}

/** A successful response; `undefined` if there is none. */
async function ask(url: string, init: RequestInit, signal: AbortSignal): Promise<Response | undefined> {
  try {
    const response = await requestKeys(url, init, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    return response.ok ? response : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function readKeys(response: Response): Promise<TemporaryCredentials> {
  const json: unknown = await response.json().catch(() => undefined);
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = (json ?? {}) as Record<string, unknown>;
  if (typeof AccessKeyId !== "string" || typeof SecretAccessKey !== "string")
    throw new S3Error("UnexpectedCredentials");
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: typeof Token === "string" ? Token : undefined,
    expiresAt: typeof Expiration === "string" ? new Date(Expiration) : undefined,
  };
}
