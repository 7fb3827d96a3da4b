// Files that flags name. No message repeats what a file holds: it may be a key or a password.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { err, ok, type Result } from "@gossip/stdx";

/** Flags that cannot work, in a sentence that shows no part of a URL. */
export interface FlagError {
  readonly kind: "Usage";
  readonly message: string;
}

interface Where {
  readonly cwd: string;
  /** The flag that a setting is given with. */
  readonly flag: (name: string) => string;
}

/** The text of every file that is named. */
export async function readFlagFiles<Name extends string>(
  files: Readonly<Partial<Record<Name, string | undefined>>>,
  { cwd, flag }: Where,
): Promise<Result<Partial<Record<Name, string>>, FlagError>> {
  const contents: Partial<Record<Name, string>> = {};
  for (const [name, file] of Object.entries(files) as [Name, string | undefined][]) {
    if (file === undefined) continue;
    try {
      contents[name] = await readFile(resolve(cwd, file), "utf8");
    } catch (thrown) {
      const { code = "unreadable" } = thrown as NodeJS.ErrnoException;
      return usage(`the file of ${flag(name)} cannot be read (${code}): name a file that this user may read.`);
    }
  }
  return ok(contents);
}

type PemName = "ca" | "cert" | "key";

/** Certificates and a key, checked to be readable and to belong together. */
export async function readPem(
  { ca, cert, key }: Readonly<Partial<Record<PemName, string | undefined>>>,
  where: Where,
): Promise<Result<Partial<Record<PemName, string>>, FlagError>> {
  if ((cert === undefined) !== (key === undefined))
    return usage(
      `a certificate needs its key, and a key its certificate: give ${where.flag("cert")} and ${where.flag("key")}.`,
    );
  const read = await readFlagFiles({ ca, cert, key }, where);
  if (!read.ok) return read;
  const flaw = pemFlaw(read.value, where.flag);
  return flaw === undefined ? read : usage(flaw);
}

export function usage(message: string): Result<never, FlagError> {
  return err({ kind: "Usage", message });
}

function pemFlaw(pems: Partial<Record<PemName, string>>, flag: Where["flag"]): string | undefined {
  for (const name of ["ca", "cert"] as const) {
    const pem = pems[name];
    if (pem !== undefined && !isTrue(() => isCertificate(pem)))
      return `the file of ${flag(name)} is not a certificate: name one in PEM form.`;
  }
  const { cert, key } = pems;
  const isPair = cert === undefined || key === undefined || isTrue(() => isKeyOf(cert, key));
  return isPair
    ? undefined
    : `the key of ${flag("key")} does not belong to the certificate of ${flag("cert")}: give its own.`;
}

/** Throws if it is not. */
function isCertificate(pem: string): boolean {
  void new X509Certificate(pem);
  return true;
}

function isKeyOf(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

/** Whether `check` returns `true`, and does not throw. */
function isTrue(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
