// What a call of an operation is sent to, and what it returns.

/** Why a call has no result. */
export type CallError =
  /** No answer. The server may have executed the call: repeat it with the same op id. */
  | { readonly kind: "Network" }
  | { readonly kind: "Unauthenticated" }
  /** The server refused. `reason` is the `kind` of the protocol's errors. */
  | { readonly kind: "Refused"; readonly status: number; readonly reason: string; readonly message: string };

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: CallError };

/** Sends a change. `body` has the op id. */
export interface Poster {
  post<T>(path: string, body: object): Promise<Answer<T>>;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** The address of an operation for a page at `baseUri`, such as `https://host/prefix/console/`. */
export function urlOf(baseUri: string, path: string, query: Query): string {
  const url = new URL(`../v1/${path}`, baseUri);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}

/** One sentence about a call that failed. */
export function sentenceOf(error: CallError): string {
  switch (error.kind) {
    case "Network":
      return "The server does not answer.";
    case "Unauthenticated":
      return "The token is missing, unknown or expired.";
    case "Refused":
      return sentenceCase(error.message);
  }
}

function sentenceCase(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
