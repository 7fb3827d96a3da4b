// A real S3 server on loopback: Ceph's object gateway over one monitor and one storage daemon that keeps its data in
// memory. The binaries come from the system's packages; `.ci/run` installs them.
import { execFile, spawnSync } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { startProcess, type EngineProcess } from "./engine-process.ts";
import { freePort } from "./free-port.ts";
import { skippedFor } from "./skipped-for.ts";

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 60_000;

export interface RadosGateway {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** A new bucket with these objects; each holds its own key. Returns its name. */
  makeBucket(keys: readonly string[]): Promise<string>;
  putObjects(bucket: string, keys: readonly string[]): Promise<void>;
  deleteObject(bucket: string, key: string): Promise<void>;
  dispose(): Promise<void>;
}

const CREDENTIALS = { accessKeyId: "GOSSIPTESTKEY0000000", secretAccessKey: "a-secret-of-the-tests" };

/** Why tests against an S3 server are skipped here, printed as a warning; `undefined` if they run. */
export function radosGatewaySkipped(): string | undefined {
  const missing = ["ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph-authtool"].filter(
    (command) => spawnSync(command, ["--version"]).status !== 0,
  );
  return skippedFor(
    missing.length === 0
      ? undefined
      : `${missing.join(", ")} not installed (Debian: apt-get install ceph-mon ceph-osd radosgw ceph-common)`,
  );
}

/** Start the three daemons with empty data in a temporary folder. It takes about fifteen seconds. */
export async function startRadosGateway(): Promise<RadosGateway> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-ceph-"));
  const monitor = `[v2:127.0.0.1:${await freePort()},v1:127.0.0.1:${await freePort()}]`;
  const port = await freePort();
  const fsid = randomUUID();
  const config = join(folder, "ceph.conf");
  const keyring = join(folder, "keyring");
  const call = (file: string, ...args: string[]): Promise<unknown> => run(file, args, { timeout: COMMAND_TIMEOUT_MS });
  const daemons: EngineProcess[] = [];
  const dispose = async (): Promise<void> => {
    for (const daemon of daemons.reverse()) await daemon.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    for (const name of ["mon", "osd", "run"]) mkdirSync(join(folder, name));
    writeFileSync(config, settings({ folder, fsid, monitor, port }));
    await call("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *");
    for (const name of ["client.admin", "client.rgw", "osd.0"]) {
      const rights = ["mon", "osd", "mgr"].flatMap((daemon) => ["--cap", daemon, "allow *"]);
      await call("ceph-authtool", keyring, "--gen-key", "-n", name, ...rights);
    }
    const map = join(folder, "monmap");
    await call("monmaptool", "--create", "--fsid", fsid, "--addv", "a", monitor, map);
    const asRoot = ["-c", config, "--setuser", "root", "--setgroup", "root"];
    await call("ceph-mon", "-i", "a", "--mkfs", "--monmap", map, "--keyring", keyring, ...asRoot);
    daemons.push(await startProcess({ file: "ceph-mon", args: ["-i", "a", "-d", ...asRoot], readyWhen: /./ }));
    const disk = randomUUID();
    await call("ceph", "-c", config, "osd", "new", disk);
    await call("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk, ...asRoot);
    daemons.push(
      await startProcess({ file: "ceph-osd", args: ["-i", "0", "-d", ...asRoot], readyWhen: /log_to_monitors/ }),
    );
    const { accessKeyId, secretAccessKey } = CREDENTIALS;
    const keys = [`--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`];
    await call("radosgw-admin", "-c", config, "user", "create", "--uid=gossip", "--display-name=gossip", ...keys);
    const gateway = ["-d", "-n", "client.rgw", ...asRoot];
    daemons.push(await startProcess({ file: "radosgw", args: gateway, readyWhen: /starting handler: beast/ }));
    // It prints that line before it listens.
    await untilListening(port);
  } catch (thrown) {
    await dispose();
    throw thrown;
  }
  const endpoint = `http://127.0.0.1:${port}`;
  const putObjects = async (bucket: string, keys: readonly string[]): Promise<void> => {
    const waiting = [...keys];
    const put = async (): Promise<void> => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
        await send(endpoint, "PUT", `/${bucket}/${encodePath(key)}`, key);
    };
    await Promise.all(Array.from({ length: 16 }, put));
  };
  let bucketCount = 0;
  return {
    endpoint,
    credentials: CREDENTIALS,
    makeBucket: async (keys) => {
      const bucket = `bucket-${++bucketCount}`;
      await send(endpoint, "PUT", `/${bucket}`);
      await putObjects(bucket, keys);
      return bucket;
    },
    putObjects,
    deleteObject: (bucket, key) => send(endpoint, "DELETE", `/${bucket}/${encodePath(key)}`),
    dispose,
  };
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await pause(100);
  }
  throw new Error("radosgw does not listen");
}

function encodePath(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}

/** Signed by the older method of S3, which is a few lines; what is under test signs by the newer one. */
async function send(endpoint: string, method: "PUT" | "DELETE", path: string, body = ""): Promise<void> {
  const date = new Date().toUTCString();
  const signature = createHmac("sha1", CREDENTIALS.secretAccessKey)
    .update(`${method}\n\n\n\nx-amz-date:${date}\n${path}`)
    .digest("base64");
  const authorization = `AWS ${CREDENTIALS.accessKeyId}:${signature}`;
  const headers = { authorization, "x-amz-date": date, "content-length": String(Buffer.byteLength(body)) };
  const { hostname, port } = new URL(endpoint);
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode!));
    });
    sent.once("error", reject).end(body);
  });
  if (status >= 300) throw new Error(`${method} ${path} ended with ${status}`);
}

function settings(given: { folder: string; fsid: string; monitor: string; port: number }): string {
  const { folder, fsid, monitor, port } = given;
  return Object.entries({
    fsid,
    "mon host": monitor,
    "public addr": "127.0.0.1",
    "cluster addr": "127.0.0.1",
    keyring: join(folder, "keyring"),
    "run dir": join(folder, "run"),
    "admin socket": join(folder, "run/$name.asok"),
    "log file": "/dev/null",
    "mon data": join(folder, "mon"),
    "osd data": join(folder, "osd"),
    "osd objectstore": "memstore",
    "osd pool default size": "1",
    "osd pool default min size": "1",
    "osd pool default pg num": "1",
    "osd pool default pgp num": "1",
    "osd pool default pg autoscale mode": "off",
    "osd crush chooseleaf type": "0",
    "mon allow pool size one": "true",
    "mon max pg per osd": "1000",
    "rgw frontends": `beast endpoint=127.0.0.1:${port}`,
  }).reduce((text, [name, value]) => `${text}${name} = ${value}\n`, "[global]\n");
}
