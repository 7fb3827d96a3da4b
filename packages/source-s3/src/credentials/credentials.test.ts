// Where credentials come from differs from machine to machine, and the order decides which of several win. Each place is
// tried against a real file or a real server on loopback.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { S3Error } from "../client/s3-error.ts";
import { CredentialChain, type CredentialLookup, type TemporaryCredentials } from "./credential-source.ts";
import { fromEnvironment } from "./from-environment.ts";
import { fromContainer, fromInstance } from "./metadata.ts";
import { fromProfile, parseProfiles, readProfile } from "./profile-file.ts";
import { fromWebIdentity, stsEndpoint } from "./web-identity.ts";

const SIGNAL = new AbortController().signal;
const ENDS = "2030-01-02T03:04:05Z";
const KEYS = { AccessKeyId: "AKIA1", SecretAccessKey: "s1", Token: "t1", Expiration: ENDS };
const EXPECTED = { accessKeyId: "AKIA1", secretAccessKey: "s1", sessionToken: "t1", expiresAt: new Date(ENDS) };

let folder: string;
let server: Server;
let url: string;
let answer: (request: IncomingMessage, body: string) => string | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "gossip-s3-"));
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => void (body += String(chunk)));
    request.once("end", () => {
      const text = answer(request, body);
      response.writeHead(text === undefined ? 404 : 200).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("the environment", () => {
  expect(fromEnvironment({ AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_SESSION_TOKEN: "" })).toEqual({
    accessKeyId: "a",
    secretAccessKey: "b",
    sessionToken: undefined,
  });
  expect(fromEnvironment({ AWS_ACCESS_KEY_ID: "a" })).toBeUndefined();
});

test("a profile, from both files", async () => {
  const env = {
    AWS_PROFILE: "work",
    AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
    AWS_CONFIG_FILE: join(folder, "config"),
  };
  writeFileSync(
    join(folder, "credentials"),
    "[default]\naws_access_key_id = no\n\n[work]\naws_access_key_id=a\naws_secret_access_key = b=c \n",
  );
  writeFileSync(
    join(folder, "config"),
    "# comment\n[profile work]\nregion = eu-west-1\ns3 =\n  addressing_style = path\n",
  );
  const profile = await readProfile(env, folder);
  expect(profile).toMatchObject({ region: "eu-west-1" });
  expect(fromProfile(profile)).toEqual({ accessKeyId: "a", secretAccessKey: "b=c", sessionToken: undefined });
  await expect(readProfile({ ...env, AWS_PROFILE: "other" }, folder)).rejects.toMatchObject({ code: "NoSuchProfile" });
});

test("no files are no profile", async () => {
  expect(await readProfile({}, folder)).toEqual({});
  expect(parseProfiles("key = without a section")).toEqual(new Map());
});

test("a container's endpoint, with its token", async () => {
  writeFileSync(join(folder, "token"), "secret\n");
  answer = ({ headers }) => (headers.authorization === "secret" ? JSON.stringify(KEYS) : undefined);
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: url,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, "token"),
  };
  expect(await fromContainer(env)(SIGNAL)).toEqual(EXPECTED);
  expect(await fromContainer({})(SIGNAL)).toBeUndefined();
  await expect(fromContainer({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })(SIGNAL)).rejects.toMatchObject({
    code: "NoContainerCredentials",
  });
});

test("an instance's role, by a token", async () => {
  answer = ({ method, url: path, headers }) => {
    if (method === "PUT" && path === "/latest/api/token") return "session";
    if (headers["x-aws-ec2-metadata-token"] !== "session") return undefined;
    return path!.endsWith("/security-credentials/")
      ? "role\n"
      : path!.endsWith("/role")
        ? JSON.stringify(KEYS)
        : undefined;
  };
  expect(await fromInstance({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url })(SIGNAL)).toEqual(EXPECTED);
  expect(await fromInstance({ AWS_EC2_METADATA_DISABLED: "true" })(SIGNAL)).toBeUndefined();
});

test("a web identity", async () => {
  writeFileSync(join(folder, "token"), "jwt");
  answer = (_, body) =>
    new URLSearchParams(body).get("WebIdentityToken") === "jwt"
      ? `<R><Result><Credentials><AccessKeyId>AKIA1</AccessKeyId><SecretAccessKey>s1</SecretAccessKey><SessionToken>t1</SessionToken><Expiration>${ENDS}</Expiration></Credentials></Result></R>`
      : undefined;
  const env = { AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, "token"), AWS_ROLE_ARN: "arn:r", AWS_ENDPOINT_URL_STS: url };
  expect(await fromWebIdentity(env, "eu-west-1")(SIGNAL)).toEqual(EXPECTED);
  answer = () => undefined;
  await expect(fromWebIdentity(env, "eu-west-1")(SIGNAL)).rejects.toMatchObject({ code: "AssumeRoleRefused" });
});

test("the first place that has some wins, and is asked again shortly before they end", async () => {
  let now = new Date("2030-01-01T00:00:00Z");
  const asked: string[] = [];
  const place = (name: string, found: TemporaryCredentials | undefined) => async () => {
    asked.push(name);
    return found;
  };
  const expiresAt = new Date("2030-01-01T01:00:00Z");
  const keys = { accessKeyId: "a", secretAccessKey: "b", expiresAt };
  const chain = new CredentialChain([place("empty", undefined), place("full", keys), place("never", keys)], () => now);
  await Promise.all([chain.get(SIGNAL), chain.get(SIGNAL)]);
  await chain.get(SIGNAL);
  expect(asked).toEqual(["empty", "full"]);
  now = new Date("2030-01-01T00:56:00Z");
  await chain.get(SIGNAL);
  expect(asked).toEqual(["empty", "full", "empty", "full"]);
});

test.each([
  ["fails", async (): Promise<undefined> => Promise.reject(new S3Error("ETIMEDOUT")), "ETIMEDOUT"],
  ["has none", async (): Promise<undefined> => undefined, "CredentialsEnded"],
])(
  "if the place %s when asked again, what it gave is used until it ends, and may then be asked again",
  async (_, fails, code) => {
    let now = new Date("2030-01-01T00:00:00Z");
    const keys = { accessKeyId: "a", secretAccessKey: "b", expiresAt: new Date("2030-01-01T01:00:00Z") };
    let lookup: CredentialLookup = async () => keys;
    const chain = new CredentialChain([(signal) => lookup(signal)], () => now);
    await chain.get(SIGNAL);
    lookup = fails;
    now = new Date("2030-01-01T00:58:00Z");
    expect(await chain.get(SIGNAL)).toEqual(keys);
    now = new Date("2030-01-01T01:00:00Z");
    await expect(chain.get(SIGNAL)).rejects.toMatchObject({ code, isTransient: true });
    lookup = async () => ({ ...keys, expiresAt: undefined });
    expect(await chain.get(SIGNAL)).toMatchObject({ accessKeyId: "a" });
  },
);

test("a caller that gives up does not take the credentials of the others with it", async () => {
  let give = (_keys: TemporaryCredentials): void => {};
  const asked = new Promise<TemporaryCredentials>((resolve) => (give = resolve));
  const chain = new CredentialChain([() => asked], () => new Date(0));
  const stop = new AbortController();
  const [first, second] = [chain.get(stop.signal), chain.get(SIGNAL)];
  stop.abort(new Error("the shard was lost"));
  await expect(first).rejects.toThrow("the shard was lost");
  give({ accessKeyId: "a", secretAccessKey: "b" });
  expect(await second).toMatchObject({ accessKeyId: "a" });
});

test("a service for roles that cannot be reached may be asked again, and what it should not say is an error", async () => {
  const file = join(folder, "token");
  // Nothing listens on a port that was just closed.
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const env = {
    AWS_WEB_IDENTITY_TOKEN_FILE: file,
    AWS_ROLE_ARN: "arn:r",
    AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${port}`,
  };
  await expect(fromWebIdentity(env, "eu-west-1")(SIGNAL)).rejects.toMatchObject({ code: "NoTokenFile" });
  writeFileSync(file, "jwt");
  await expect(fromWebIdentity(env, "eu-west-1")(SIGNAL)).rejects.toMatchObject({
    code: "ECONNREFUSED",
    isTransient: true,
  });
  answer = () => "this is no XML";
  const reached = { ...env, AWS_ENDPOINT_URL_STS: url };
  await expect(fromWebIdentity(reached, "eu-west-1")(SIGNAL)).rejects.toMatchObject({ code: "UnexpectedCredentials" });
  await expect(
    fromContainer({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: `${file}2` })(
      SIGNAL,
    ),
  ).rejects.toMatchObject({ code: "NoTokenFile" });
  await expect(fromContainer({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })(SIGNAL)).rejects.toMatchObject({
    code: "UnexpectedCredentials",
  });
});

test("the service for roles is in the domain of its region", () => {
  expect(stsEndpoint("eu-west-1")).toBe("https://sts.eu-west-1.amazonaws.com");
  expect(stsEndpoint("cn-north-1")).toBe("https://sts.cn-north-1.amazonaws.com.cn");
});
