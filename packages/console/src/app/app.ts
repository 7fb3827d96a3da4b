import { signal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Action } from "./actions/actions.ts";
import type { ConsoleEvent, WhoAmI } from "./data/api-types.ts";
import type { CallError } from "./data/call.ts";
import { ApiClient } from "./data/client.ts";
import { CONNECTING, nextConnection, type Connection } from "./data/connection.ts";
import { addEvents, markGap, NO_EVENTS, type EventList } from "./data/event-list.ts";
import { EventStream } from "./data/event-stream.ts";
import { eventText } from "./format/event-text.ts";
import { parseHash, type Location } from "./route/route.ts";
import { readTheme, storeTheme, type ThemeChoice } from "./theme.ts";

/** Why there is no session: none began, the token was refused, or it was accepted before and no longer is. */
export type WhySignedOut = "new" | "refused" | "ended";

/** Who uses the page: not known yet, unknown to the server, known, or the server cannot be asked. */
export type Session =
  | { readonly state: "starting" }
  | { readonly state: "signedOut"; readonly why: WhySignedOut }
  | { readonly state: "failed"; readonly error: CallError }
  | { readonly state: "known"; readonly me: WhoAmI };

export interface Toast {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

/** A change on the server: an event, or `undefined` if anything may have changed. */
export type Change = ConsoleEvent | undefined;

const ANNOUNCED: ReadonlySet<string> = new Set([
  "RunDone",
  "RunFailed",
  "RunCancelled",
  "ShardParked",
  "WriterRejected",
]);
/** The tenant of `gossip run` without `--tenant`. An empty store has no other. */
const COMMAND_TENANT = "0".repeat(64);
const TOKEN_KEY = "gossip-token";
const MAX_TOASTS = 4;
const TOAST_MS = 8_000;
/** The first attempts to ask who uses the page follow each other quickly. */
const START_AGAIN_MS = 2_000;

/** All state that outlives a page of the console. One per browser tab. */
export class App {
  readonly client: ApiClient;
  readonly location: Signal<Location>;
  readonly session: Signal<Session> = signal({ state: "starting" });
  readonly connection: Signal<Connection> = signal(CONNECTING);
  readonly events: Signal<EventList> = signal(NO_EVENTS);
  /** The action that the operator is asked to confirm. */
  readonly asked: Signal<Action | undefined> = signal(undefined);
  readonly toasts: Signal<readonly Toast[]> = signal([]);
  /** A sentence for screen readers. */
  readonly announcement: Signal<string> = signal("");
  readonly theme: Signal<ThemeChoice> = signal(readTheme());
  /** The server's time, once a second. */
  readonly nowMs: Signal<number> = signal(Date.now());
  readonly #listeners = new Set<(change: Change) => void>();
  #skewMs = 0;
  /** When the page was opened, by the server's clock. */
  #startedMs = 0;
  #stream: EventStream | undefined;
  #streamTenant: string | undefined;
  #nextToast = 1;

  constructor() {
    this.client = new ApiClient({
      baseUri: document.baseURI,
      fetch: (input, init) => fetch(input, init),
      token: () => sessionStorage.getItem(TOKEN_KEY) ?? undefined,
    });
    this.location = signal(parseHash(window.location.hash));
    window.addEventListener("hashchange", () => {
      this.location.value = parseHash(window.location.hash);
      this.#followTenant();
    });
    setInterval(() => {
      if (!document.hidden) this.nowMs.value = Date.now() + this.#skewMs;
    }, 1_000);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#tell(undefined);
    });
  }

  /** Ask the server who uses the page, then follow its events. */
  async start(): Promise<void> {
    const asked = await this.client.get<WhoAmI>("console/whoami");
    if (asked.ok) {
      this.#skewMs = asked.value.nowMs - Date.now();
      this.nowMs.value = asked.value.nowMs;
      this.#startedMs = asked.value.nowMs;
      this.session.value = { state: "known", me: asked.value };
      return this.#followTenant();
    }
    if (asked.error.kind === "Unauthenticated") return this.#signedOut();
    this.session.value = { state: "failed", error: asked.error };
    setTimeout(() => void this.start(), START_AGAIN_MS);
  }

  /** Use a token from now on. It stays in this tab. */
  async signIn(token: string): Promise<void> {
    sessionStorage.setItem(TOKEN_KEY, token);
    await this.start();
  }

  signOut(): void {
    sessionStorage.removeItem(TOKEN_KEY);
    this.#stream?.stop();
    this.#streamTenant = undefined;
    // Nothing of the session stays for the next one.
    this.events.value = NO_EVENTS;
    this.asked.value = undefined;
    this.toasts.value = [];
    this.announcement.value = "";
    this.session.value = { state: "signedOut", why: "new" };
  }

  get hasToken(): boolean {
    return sessionStorage.getItem(TOKEN_KEY) !== null;
  }

  get canOperate(): boolean {
    return this.session.value.state === "known" && this.session.value.me.canOperate;
  }

  /** The tenant of the address, or the token's own, or the one that the command uses. */
  get tenant(): string {
    return this.location.value.query["tenant"] ?? this.ownTenant;
  }

  /** The tenant that an address need not name. */
  get ownTenant(): string {
    const session = this.session.value;
    const me = session.state === "known" ? session.me : undefined;
    return me?.tenant ?? me?.tenants?.[0] ?? COMMAND_TENANT;
  }

  chooseTheme(choice: ThemeChoice): void {
    this.theme.value = choice;
    storeTheme(choice);
  }

  retryConnection(): void {
    this.#stream?.retryNow();
  }

  /** Call `listener` when something changed on the server. Returns how to stop. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Show a sentence. What went wrong stays until it is closed. */
  toast(tone: Toast["tone"], text: string, isKept = tone === "bad"): void {
    const id = this.#nextToast++;
    this.toasts.value = [...this.toasts.value, { id, tone, text }].slice(-MAX_TOASTS);
    if (!isKept) setTimeout(() => this.dismiss(id), TOAST_MS);
  }

  /** Ask the operator to confirm an action. */
  ask(action: Action): void {
    this.asked.value = action;
  }

  /** Close the question. After an action, everything is read again. */
  answered(isDone: boolean): void {
    this.asked.value = undefined;
    if (isDone) this.#tell(undefined);
  }

  dismiss(id: number): void {
    this.toasts.value = this.toasts.value.filter((toast) => toast.id !== id);
  }

  #signedOut(): void {
    const wasKnown = this.session.value.state === "known";
    const why = !this.hasToken ? "new" : wasKnown ? "ended" : "refused";
    this.signOut();
    this.session.value = { state: "signedOut", why };
  }

  #followTenant(): void {
    const { tenant } = this;
    if (this.session.value.state !== "known" || (this.#stream !== undefined && this.#streamTenant === tenant)) return;
    this.#stream?.stop();
    this.#streamTenant = tenant;
    this.events.value = NO_EVENTS;
    this.#stream = new EventStream(
      this.client,
      { tenant },
      {
        onEvents: (events) => {
          // `Counted` only asks the page to read figures again.
          this.events.value = addEvents(
            this.events.value,
            events.filter(({ kind }) => kind !== "Counted"),
          );
          this.#announce(events);
          for (const event of events) this.#tell(event);
        },
        onGap: () => {
          this.events.value = markGap(this.events.value);
          this.#tell(undefined);
        },
        onChange: (change) => void (this.connection.value = nextConnection(this.connection.value, change)),
        onUnauthenticated: () => this.#signedOut(),
      },
    ).start();
  }

  /** Tell a screen reader what an operator would look up for. */
  #announce(events: readonly ConsoleEvent[]): void {
    // The first events of a page are older than it.
    const last = events.findLast(({ kind, atMs }) => ANNOUNCED.has(kind) && atMs >= this.#startedMs);
    if (last !== undefined) this.announcement.value = `${eventText(last)}: ${last.shard ?? last.run}`;
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  return useContext(AppContext)!;
}
