import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { S3Error } from "../client/s3-error.ts";
import type { TemporaryCredentials } from "./credential-source.ts";
import type { Environment } from "./from-environment.ts";

/** The settings of one profile, from both files of the AWS command line. */
export type Profile = Readonly<Record<string, string>>;

/** Reads a profile: `AWS_PROFILE` or `default`, in `~/.aws/credentials` and `~/.aws/config` or where the environment says. */
export async function readProfile(env: Environment, home: string): Promise<Profile> {
  const name = env["AWS_PROFILE"] || "default";
  const credentialsFile = env["AWS_SHARED_CREDENTIALS_FILE"] || join(home, ".aws/credentials");
  const configFile = env["AWS_CONFIG_FILE"] || join(home, ".aws/config");
  const config = parseProfiles(await readIfThere(configFile));
  const credentials = parseProfiles(await readIfThere(credentialsFile));
  const profile = { ...config.get(name === "default" ? name : `profile ${name}`), ...credentials.get(name) };
  if (env["AWS_PROFILE"] && Object.keys(profile).length === 0) throw new S3Error("NoSuchProfile");
  return profile;
}

export function fromProfile(profile: Profile): TemporaryCredentials | undefined {
  const {
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    aws_session_token: sessionToken,
  } = profile;
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** The sections of a file: `[name]`, then `key = value`. Comments and indented lines (nested settings) are left out. */
export function parseProfiles(text: string): Map<string, Profile> {
  const profiles = new Map<string, Record<string, string>>();
  let current: Record<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    const [, key, value] = /^([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section !== undefined) {
      current = profiles.get(section) ?? {};
      profiles.set(section, current);
    } else if (key !== undefined && current !== undefined) current[key.toLowerCase()] = value!;
  }
  return profiles;
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw new S3Error(code ?? "UnreadableProfile", { cause: thrown });
  }
}
