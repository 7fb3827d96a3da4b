import { decodeMessage, encodeMessage } from "@gossip/scope";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "../http/read-body.ts";
import { respondText } from "../http/respond.ts";
import { hasClusterToken } from "./cluster-token.ts";
import { CLUSTER_PATH } from "./http-peer.ts";
import type { Peer, PeerAnswer } from "./peer.ts";

/** Largest message between nodes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A call of another node that is not about the decision of a move. Returns a status and a text. */
export type ClusterCall = (body: Buffer) => Promise<{ readonly status: number; readonly text: string }>;

export interface ClusterHandlerOptions {
  readonly receiver: Peer;
  /** Tokens that other nodes may send; `undefined` accepts every caller: only where the server listens on loopback. */
  readonly tokens: () => readonly string[] | undefined;
  readonly calls?: Readonly<Record<string, ClusterCall>>;
}

/** Serves the calls between nodes, below `/cluster/v1/`. They have a token of their own, and no other one is valid here. */
export class ClusterHandler {
  readonly #options: ClusterHandlerOptions;

  constructor(options: ClusterHandlerOptions) {
    this.#options = options;
  }

  /** Never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { status, text } = await this.#answer(request);
      respondText(response, status, text);
    } catch {
      // No time from the clock, or a journal that could not be written: the other node asks again.
      respondText(response, 503, "not now\n");
    }
  }

  async #answer(request: IncomingMessage): Promise<{ readonly status: number; readonly text: string }> {
    const tokens = this.#options.tokens();
    if (tokens !== undefined && !hasClusterToken(request.headers.authorization, tokens))
      return { status: 401, text: "send the cluster's token\n" };
    if (request.method !== "POST") return { status: 405, text: "only POST\n" };
    const body = await readBody(request, MAX_MESSAGE_BYTES);
    if (!body.ok) return { status: 413, text: "too large\n" };
    const name = (request.url ?? "").slice(CLUSTER_PATH.length);
    const call = this.#options.calls?.[name];
    return call === undefined ? this.#message(name, body.value.toString("utf8")) : call(body.value);
  }

  async #message(name: string, text: string) {
    const { receiver } = this.#options;
    const message = decodeMessage(text);
    const kind = message.ok && "kind" in message.value ? message.value.kind : "none";
    if (message.ok && "kind" in message.value) {
      if (name === "offer" && message.value.kind === "Offer") return write(await receiver.offer(message.value));
      if (name === "abort" && message.value.kind === "Offer")
        return write(await receiver.abort(message.value.migration));
      if (name === "inform" && message.value.kind === "Decision") {
        await receiver.inform(message.value);
        return { status: 200, text: "" };
      }
    }
    return { status: 400, text: `${name} takes another message than ${kind}\n` };
  }
}

function write(answer: PeerAnswer): { readonly status: number; readonly text: string } {
  if (answer.kind === "Decided") return { status: 200, text: encodeMessage(answer.decision) };
  return { status: 409, text: answer.kind === "Refused" ? answer.reason : "Silent" };
}
