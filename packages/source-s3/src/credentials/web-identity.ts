import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { domainOf } from "../client/bucket-address.ts";
import { S3Error } from "../client/s3-error.ts";
import { readTokenFile, requestKeys } from "./credential-request.ts";
import type { CredentialLookup } from "./credential-source.ts";
import type { Environment } from "./from-environment.ts";

/** A role that a token in a file stands for, as on EKS: `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`. */
export function fromWebIdentity(env: Environment, region: string): CredentialLookup {
  return async (signal) => {
    const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role } = env;
    if (!file || !role) return undefined;
    const query = new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: role,
      RoleSessionName: env["AWS_ROLE_SESSION_NAME"] || "gossip",
      WebIdentityToken: await readTokenFile(file),
    });
    const endpoint = env["AWS_ENDPOINT_URL_STS"] || stsEndpoint(region);
    const response = await requestKeys(endpoint, { method: "POST", body: query }, signal);
    if (!response.ok) throw new S3Error("AssumeRoleRefused", { status: response.status });
    const found = textsOf(parsed(await response.text()));
    const [accessKeyId, secretAccessKey] = [found.get("AccessKeyId"), found.get("SecretAccessKey")];
    if (accessKeyId === undefined || secretAccessKey === undefined) throw new S3Error("UnexpectedCredentials");
    const expiration = found.get("Expiration");
    return {
      accessKeyId,
      secretAccessKey,
      sessionToken: found.get("SessionToken"),
      expiresAt: expiration === undefined ? undefined : new Date(expiration),
    };
  };
}

/** Where the service for roles of a region is. */
export function stsEndpoint(region: string): string {
  return `https://sts.${region}.${domainOf(region)}`;
}

function parsed(xml: string): XmlElement | null {
  try {
    return parseXml(xml).root;
  } catch (thrown) {
    throw new S3Error("UnexpectedCredentials", { cause: thrown });
  }
}

/** The texts of all elements without children, by name. */
function textsOf(element: XmlElement | null, found = new Map<string, string>()): Map<string, string> {
  const inner = element?.children.filter((child) => child instanceof XmlElement) ?? [];
  if (element !== null && inner.length === 0) found.set(element.name, element.text);
  for (const child of inner) textsOf(child, found);
  return found;
}
