import { createConnection, type Socket } from "node:net";
import { unwrap } from "@gossip/stdx";
import { EpochMemo } from "../wire/epoch-memo.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import { decodeReply, PREFACE, type Reply } from "../wire/frame.ts";

/** A client of the protocol that sends arbitrary bytes, one at a time if necessary. */
export class RawClient {
  readonly replies: Reply[] = [];
  isClosed = false;
  readonly socket: Socket;

  constructor(address: string) {
    this.socket = address.startsWith("/")
      ? createConnection(address)
      : createConnection({ host: "127.0.0.1", port: Number(address.split(":").at(-1)) });
    const reader = new FrameReader();
    const epochs = new EpochMemo();
    this.socket.on("data", (chunk: Buffer) =>
      reader.push(chunk, (frame) => (this.replies.push(unwrap(decodeReply(frame, epochs))), true)),
    );
    this.socket.on("error", () => {});
    this.socket.on("close", () => (this.isClosed = true));
  }

  async connected(): Promise<this> {
    this.socket.write(PREFACE);
    await new Promise((resolve) => this.socket.once("connect", resolve));
    return this;
  }
}
