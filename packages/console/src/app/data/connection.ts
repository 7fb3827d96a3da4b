// Whether the page receives events. A pure reducer: the stream feeds it, the frame of the page shows it.

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly sinceMs: number; readonly nextTryMs: number; readonly attempts: number };

export type ConnectionChange =
  | { readonly kind: "opened" }
  | { readonly kind: "failed"; readonly atMs: number; readonly nextTryMs: number };

export const CONNECTING: Connection = { state: "connecting" };

export function nextConnection(current: Connection, change: ConnectionChange): Connection {
  if (change.kind === "opened") return { state: "live" };
  const isLost = current.state === "lost";
  return {
    state: "lost",
    sinceMs: isLost ? current.sinceMs : change.atMs,
    nextTryMs: change.nextTryMs,
    attempts: isLost ? current.attempts + 1 : 1,
  };
}
