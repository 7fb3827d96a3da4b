// The near side of the server benches: the processes they talk to, and the baselines' clients.
import { spawn, type ChildProcess } from "node:child_process";
import { createConnection, type Socket } from "node:net";
import { Client, credentials } from "@grpc/grpc-js";
import { ECHO_REPLY_SIZE, ECHO_REQUEST_SIZE, GRPC_METHOD } from "./bench-shapes.fixture.ts";

const REGISTER = new URL("../../../../tools/ts/register.mjs", import.meta.url).href;
const PROGRAM = new URL("./bench-server.fixture.ts", import.meta.url).pathname;

export interface OracleCounts {
  /** How often it extended its window, for how many requests it had to, and how many there were. */
  readonly extensions: number;
  readonly waits: number;
  readonly requests: number;
}

export class BenchServer {
  readonly #child: ChildProcess;
  readonly #port: Promise<number>;

  constructor(...args: readonly string[]) {
    this.#child = spawn(process.execPath, ["--import", REGISTER, PROGRAM, ...args], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    this.#port = new Promise((resolve, reject) => {
      this.#child.stdout!.once("data", (line: Buffer) => resolve(Number(line.toString())));
      this.#child.once("exit", () => reject(new Error("a bench server ended")));
    });
  }

  port(): Promise<number> {
    return this.#port;
  }

  /** What the oracle has counted. */
  counts(): Promise<OracleCounts> {
    return new Promise((resolve) => {
      this.#child.once("message", (message: OracleCounts) => resolve(message));
      this.#child.send({});
    });
  }

  stop(): void {
    this.#child.removeAllListeners("exit");
    this.#child.kill("SIGKILL");
  }
}

/** Callers of one turn share a frame, as with the oracle's client, and nothing else is done: no checks, no slices, no results. */
export class EchoClient {
  readonly #socket: Socket;
  #waiting: ((value: number) => void)[] = [];
  readonly #sent: ((value: number) => void)[][] = [];
  #isScheduled = false;
  #rest = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => {
      const size = this.#rest + chunk.length;
      this.#rest = size % ECHO_REPLY_SIZE;
      for (let reply = 0; reply < (size - this.#rest) / ECHO_REPLY_SIZE; reply++) this.#deliver(this.#sent.shift()!);
    });
  }

  static async connect(port: number): Promise<EchoClient> {
    const socket = createConnection({ host: "127.0.0.1", port, noDelay: true });
    await new Promise((resolve) => socket.once("connect", resolve));
    return new EchoClient(socket);
  }

  /** One of many callers. */
  call(): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#send();
      });
    });
  }

  /** A lone caller: the raw round trip. */
  roundTrip(): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#send();
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(): void {
    const frame = Buffer.allocUnsafe(ECHO_REQUEST_SIZE);
    frame.writeUInt32LE(this.#waiting.length, 9);
    this.#sent.push(this.#waiting);
    this.#waiting = [];
    this.#socket.write(frame);
  }

  #deliver(waiting: readonly ((value: number) => void)[]): void {
    for (let index = 0; index < waiting.length; index++) waiting[index]!(index);
  }
}

export class GrpcClient {
  readonly #client: Client;

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  call(): Promise<Buffer> {
    const request = Buffer.allocUnsafe(4);
    request.writeUInt32LE(1, 0);
    const { path, requestSerialize, responseDeserialize } = GRPC_METHOD;
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, reply) =>
        error === null ? resolve(reply!) : reject(error),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}
