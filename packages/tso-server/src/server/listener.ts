import { unlink } from "node:fs/promises";
import { createConnection, type Server as NetServer } from "node:net";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** Where to listen. A port of 0 lets the system choose one. */
export type ListenAddress = { readonly host?: string; readonly port: number } | { readonly path: string };

export function assertAddress(address: ListenAddress): void {
  assertObject(address, "an address to listen on");
  if ("path" in address) {
    assert(typeof address.path === "string" && address.path !== "", "the path of a unix socket is not empty");
    return;
  }
  const { host = DEFAULT_HOST, port } = address;
  assert(typeof host === "string" && host !== "", "a host to listen on is a name or an address");
  assert(Number.isInteger(port) && port >= 0 && port <= 65_535, "a port is a whole number from 0 to 65535");
}

/** A port or path that could not be had. */
export interface ListenError {
  readonly kind: "Listen";
  readonly code: string;
  readonly address: string;
}

/** Loopback: without TLS and tokens, every client that can reach the server is served. Pass another host to change it. */
export const DEFAULT_HOST = "127.0.0.1";

/** Start listening; answer with `host:port` or the path. */
export async function listen(server: NetServer, address: ListenAddress): Promise<Result<string, ListenError>> {
  const options =
    "path" in address ? { path: address.path } : { host: address.host ?? DEFAULT_HOST, port: address.port };
  let code = await tryListen(server, options);
  if (code === "EADDRINUSE" && "path" in address && (await isAbandoned(address.path))) {
    await unlink(address.path);
    code = await tryListen(server, options);
  }
  if (code === undefined) return ok(nameOf(server));
  const name = "path" in address ? address.path : `${options.host ?? ""}:${address.port}`;
  return err({ kind: "Listen", code, address: name });
}

export function closeListener(server: NetServer): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}

function tryListen(server: NetServer, options: object): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => resolve(error.code ?? error.message);
    server.once("error", onError);
    server.listen(options, () => {
      server.off("error", onError);
      resolve(undefined);
    });
  });
}

/** Whether the socket at `path` was left behind by a process that is gone. */
function isAbandoned(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}

function nameOf(server: NetServer): string {
  const address = server.address();
  if (address === null || typeof address === "string") return address ?? "";
  return address.family === "IPv6" ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
}
