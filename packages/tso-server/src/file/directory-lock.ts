import { randomBytes } from "node:crypto";
import { open, readdir, unlink, type FileHandle } from "node:fs/promises";
import { createConnection, createServer, type Server } from "node:net";
import { join } from "node:path";
import { err, ok, type Result } from "@gossip/stdx";

/** Why a directory could not be locked. */
export type LockError =
  | { readonly kind: "AlreadyLocked"; readonly directory: string }
  | { readonly kind: "LockUnsupported"; readonly reason: string };

const LOCK_NAME = /^lock-[0-9a-f]{16}\.sock$/u;

/** The least of what systems allow for a socket's path, the final zero included. */
const MAX_SOCKET_PATH_SIZE = 103;

/**
 * A directory that one process at a time may use, on one machine.
 *
 * Node has no file locks, so the lock is a listening unix socket in the directory: the kernel answers for a
 * process that lives, also one that is stopped or busy, and refuses connections once it is gone, however it
 * went. Each opener first listens under a name of its own and then knocks at every other name. Of two openers
 * at once, the one that looks second finds the first one listening; at worst both are refused. A name that does
 * not answer belongs to the dead, and is removed.
 *
 * The directory must be local: a socket is not visible to another machine.
 */
export class DirectoryLock {
  readonly #server: Server;
  readonly #handle: FileHandle | undefined;

  private constructor(server: Server, handle: FileHandle | undefined) {
    this.#server = server;
    this.#handle = handle;
  }

  static async acquire(directory: string): Promise<Result<DirectoryLock, LockError>> {
    if (process.platform === "win32")
      return err({ kind: "LockUnsupported", reason: "Windows has no unix sockets in folders" });
    const name = `lock-${randomBytes(8).toString("hex")}.sock`;
    const base = await socketBase(directory, name);
    if (!base.ok) return base;
    const listening = await listen(join(base.value.path, name));
    if (!listening.ok) {
      await base.value.handle?.close();
      return listening;
    }
    const lock = new DirectoryLock(listening.value, base.value.handle);
    try {
      if (!(await isHeldByAnother(directory, base.value.path, name))) return ok(lock);
    } catch (thrown) {
      await lock.release();
      throw thrown;
    }
    await lock.release();
    return err({ kind: "AlreadyLocked", directory });
  }

  async release(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    await this.#handle?.close();
  }
}

/** Knock at every name but our own, and remove those of the dead. */
async function isHeldByAnother(directory: string, socketPath: string, ownName: string): Promise<boolean> {
  const others = (await readdir(directory)).filter((name) => LOCK_NAME.test(name) && name !== ownName);
  for (const other of others) {
    if (await isAlive(join(socketPath, other))) return true;
    await unlink(join(directory, other)).catch(ignoreMissing);
  }
  return false;
}

interface SocketBase {
  readonly path: string;
  readonly handle?: FileHandle;
}

/** The directory by a name short enough for a socket in it. */
async function socketBase(directory: string, name: string): Promise<Result<SocketBase, LockError>> {
  if (Buffer.byteLength(join(directory, name)) <= MAX_SOCKET_PATH_SIZE) return ok({ path: directory });
  if (process.platform !== "linux")
    return err({ kind: "LockUnsupported", reason: "the path of the folder is too long for a unix socket" });
  const handle = await open(directory, "r");
  return ok({ path: `/proc/self/fd/${handle.fd}`, handle });
}

function listen(path: string): Promise<Result<Server, LockError>> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      resolve(
        err({
          kind: "LockUnsupported",
          reason: `listening on a unix socket in the folder failed with ${error.code ?? error.message}`,
        }),
      );
    });
    // Exclusive: in a cluster the primary would otherwise listen in our place, and outlive us.
    server.listen({ path, exclusive: true }, () => resolve(ok(server)));
    server.unref();
  });
}

/** Whether a process listens. Only a definite "no" counts as one. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code !== "ECONNREFUSED" && error.code !== "ENOENT");
    });
  });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
