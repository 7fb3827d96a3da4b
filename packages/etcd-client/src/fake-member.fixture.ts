import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What a member does with a request. */
export type FakeReply =
  | { readonly status: number; readonly body: string }
  | "silence"
  | "hang up"
  | "half, then silence"
  | "half, then hang up";

export interface FakeRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** Something that answers at etcd's address, as a test tells it to. */
export class FakeMember {
  readonly #server: Server;
  readonly requests: FakeRequest[] = [];
  reply: (request: FakeRequest) => FakeReply = () => ({ status: 200, body: '{"header":{"revision":"7"}}' });

  private constructor() {
    this.#server = createServer((message, response) => {
      void readRequest(message).then((request) => {
        this.requests.push(request);
        const reply = this.reply(request);
        if (reply === "silence") return;
        if (reply === "hang up") return void message.socket.destroy();
        if (typeof reply !== "string") return void response.writeHead(reply.status).end(reply.body);
        // What comes of it looks like a whole answer, and more was announced.
        response.writeHead(200, { "content-length": 100 });
        response.write("{}", () => {
          if (reply === "half, then hang up") message.socket.destroy();
        });
      });
    });
  }

  static async start(): Promise<FakeMember> {
    const member = new FakeMember();
    await new Promise<void>((resolve) => member.#server.listen(0, "127.0.0.1", resolve));
    return member;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many are open. */
  connections(): Promise<number> {
    return new Promise(
      (resolve, reject) =>
        void this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

async function readRequest(message: IncomingMessage): Promise<FakeRequest> {
  let body = "";
  for await (const piece of message) body += String(piece);
  return { path: message.url ?? "", authorization: message.headers.authorization, body };
}
