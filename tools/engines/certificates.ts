// Certificates for servers over TLS, made by openssl.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { skippedFor } from "./skipped-for.ts";

/** Why certificates cannot be made here; `undefined` if they can. */
export function opensslMissing(): string | undefined {
  if (spawnSync("openssl", ["version"]).status === 0) return undefined;
  return "openssl is not installed (Debian: apt-get install openssl)";
}

/** Why tests over TLS are skipped here, printed as a warning; `undefined` if they run. */
export function tlsSkipped(): string | undefined {
  return skippedFor(opensslMissing());
}

export interface PemFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * Makes an authority, a certificate of it for the server and one for clients, as PEM files in `folder`.
 *
 * The server is `127.0.0.1` and `localhost`.
 */
export function makeCertificates(folder: string): {
  readonly ca: string;
  readonly server: PemFiles;
  readonly client: PemFiles;
} {
  const file = (name: string): string => join(folder, name);
  openssl([
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=gossip test authority",
    "-keyout",
    file("ca.key"),
    "-out",
    file("ca.pem"),
  ]);
  // etcd's gateway calls its own server, with the server's certificate: so that must do for a client, too.
  writeFileSync(
    file("extensions"),
    "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n",
  );
  const issue = (name: string): PemFiles => {
    const pair = { cert: file(`${name}.pem`), key: file(`${name}.key`) };
    openssl([
      "req",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      pair.key,
      "-out",
      file(`${name}.csr`),
    ]);
    openssl([
      "x509",
      "-req",
      "-days",
      "2",
      "-in",
      file(`${name}.csr`),
      "-CA",
      file("ca.pem"),
      "-CAkey",
      file("ca.key"),
      "-CAcreateserial",
      "-extfile",
      file("extensions"),
      "-out",
      pair.cert,
    ]);
    return pair;
  };
  return { ca: file("ca.pem"), server: issue("server"), client: issue("client") };
}

function openssl(args: readonly string[]): void {
  const done = spawnSync("openssl", args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`openssl failed: ${done.stderr}`);
}
