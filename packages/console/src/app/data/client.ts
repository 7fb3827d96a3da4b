import { urlOf, type Answer, type CallError, type Query } from "./call.ts";

export interface ClientOptions {
  /** The address of the page. The protocol is next to it. */
  readonly baseUri: string;
  readonly fetch: typeof fetch;
  readonly token: () => string | undefined;
}

/** Calls the operations of the server that the page came from. */
export class ApiClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer<T>> {
    return this.#call(path, query, signal === undefined ? {} : { signal });
  }

  /** `body` has the op id. */
  post<T>(path: string, body: object): Promise<Answer<T>> {
    const headers = { "content-type": "application/json", "gossip-console": "1" };
    return this.#call(path, {}, { method: "POST", body: JSON.stringify(body), headers });
  }

  /** Opens a stream of events. `lastId` is the last event that was seen. */
  async stream(path: string, query: Query, lastId: string, signal: AbortSignal): Promise<Answer<Response>> {
    return this.#send(path, query, { headers: { accept: "text/event-stream", "last-event-id": lastId }, signal });
  }

  async #call<T>(path: string, query: Query, init: RequestInit): Promise<Answer<T>> {
    const sent = await this.#send(path, query, init);
    if (!sent.ok) return sent;
    try {
      return { ok: true, value: (await sent.value.json()) as T };
    } catch {
      return { ok: false, error: { kind: "Network" } };
    }
  }

  async #send(path: string, query: Query, init: RequestInit): Promise<Answer<Response>> {
    const token = this.#options.token();
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    let response: Response;
    try {
      response = await this.#options.fetch(urlOf(this.#options.baseUri, path, query), {
        ...init,
        headers,
        credentials: "same-origin",
        cache: "no-store",
      });
    } catch {
      return { ok: false, error: { kind: "Network" } };
    }
    return response.ok ? { ok: true, value: response } : { ok: false, error: await readError(response) };
  }
}

async function readError(response: Response): Promise<CallError> {
  if (response.status === 401) return { kind: "Unauthenticated" };
  let error: { readonly kind?: unknown; readonly message?: unknown } | undefined;
  try {
    ({ error } = (await response.json()) as { error?: typeof error });
  } catch {
    // A proxy in between answers in its own way. Without an error of the protocol, the server was not reached.
    if (response.status >= 502) return { kind: "Network" };
  }
  return {
    kind: "Refused",
    status: response.status,
    reason: typeof error?.kind === "string" ? error.kind : "Unknown",
    message: typeof error?.message === "string" ? error.message : `The server answered with status ${response.status}.`,
  };
}
