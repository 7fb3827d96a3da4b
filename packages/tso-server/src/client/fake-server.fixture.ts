// A server that says what a test tells it to, so that a client can be shown things no real server does.
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { Epoch, type WindowGrant } from "@gossip/tso";
import type { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { EpochMemo } from "../wire/epoch-memo.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import {
  decodeRequest,
  encodeGrantedInto,
  encodeRefused,
  GRANTED_FRAME_SIZE,
  PREFACE,
  type Request,
} from "../wire/frame.ts";
import type { Status } from "../wire/status.ts";

export type Act =
  | { readonly grant: Partial<WindowGrant> }
  | { readonly refuse: Status; readonly endpoint?: string; readonly epoch?: bigint }
  | { readonly raw: Buffer }
  | "stay silent"
  | "hang up";

export class FakeServer {
  readonly requests: Request[] = [];
  connections = 0;
  /** What to do with the next request. */
  act: (request: Request, index: number) => Act;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silenced: { readonly socket: Socket; readonly request: Request }[] = [];

  private constructor(act: (request: Request, index: number) => Act) {
    this.act = act;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(act: (request: Request, index: number) => Act, host = "127.0.0.1"): Promise<FakeServer> {
    const fake = new FakeServer(act);
    await new Promise<void>((resolve) => fake.#server.listen({ host, port: 0 }, resolve));
    return fake;
  }

  get endpoint(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `${address}:${port}`;
  }

  /** Answer the requests that were met with silence. */
  break(silence: (request: Request) => Act): void {
    for (const { socket, request } of this.#silenced.splice(0)) this.#do(socket, request, silence(request));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    const reader = new FrameReader();
    let skipped = 0;
    socket.on("data", (chunk: Buffer) => {
      const size = Math.min(PREFACE.length - skipped, chunk.length);
      skipped += size;
      reader.push(chunk.subarray(size), (frame) => {
        const request = decodeRequest(frame);
        if (!request.ok) return false;
        this.requests.push(request.value);
        this.#do(socket, request.value, this.act(request.value, this.requests.length - 1));
        return true;
      });
    });
  }

  #do(socket: Socket, { requestId, count }: Request, act: Act): void {
    if (act === "hang up") {
      socket.destroy();
    } else if (act === "stay silent") {
      this.#silenced.push({ socket, request: { requestId, count } });
    } else if ("raw" in act) {
      socket.write(act.raw);
    } else if ("grant" in act) {
      const out = Buffer.alloc(GRANTED_FRAME_SIZE);
      encodeGrantedInto(
        { requestId, grant: { physicalMs: 1000, logicalStart: 0, count, epoch: Epoch.fromRaw(1n), ...act.grant } },
        new EpochMemo(),
        0,
        out,
      );
      socket.write(out);
    } else {
      const { refuse, endpoint, epoch } = act;
      const hint = {
        ...(endpoint === undefined ? {} : { leaderEndpoint: endpoint as PeerEndpoint }),
        ...(epoch === undefined ? {} : { leaderEpoch: Epoch.fromRaw(epoch) }),
      };
      socket.write(encodeRefused(requestId, { status: refuse, reason: "told to", hint }));
    }
  }
}

/** Grants that follow one another, one millisecond each. */
export function granting(startMs = 1000, epoch = 1n): (request: Request) => Act {
  let physicalMs = startMs;
  return () => ({ grant: { physicalMs: physicalMs++, epoch: Epoch.fromRaw(epoch) } });
}
