import { Transport, type TransportOptions } from "../http/transport.ts";

/** How many runs have their owner remembered. For one that is forgotten, the first server names the owner again. */
const CAPACITY = 10_000;

const ADDRESS = /^[^\s/@?#]+:\d{1,5}$/;

/** The run that a request is about, as `OwnerBook` remembers it. `undefined` if it is about none. */
export type RunName = string | undefined;

/** Where a request names its run. */
interface NamesRun {
  readonly lease?: { readonly tenant: string; readonly run: string };
  readonly tenant?: string;
  readonly run?: string;
  /** Of a scope. */
  readonly prefix?: string;
}

export function runNameOf({ lease, tenant = lease?.tenant, run = lease?.run, prefix }: NamesRun): RunName {
  if (prefix !== undefined) return `scope ${prefix}`;
  return run === undefined ? undefined : `${tenant ?? ""}/${run}`;
}

/**
 * Which node of a cluster to ask about a run.
 *
 * A node that does not own a run names the one that does. A node that does not answer is forgotten, and another one that
 * is known is asked instead: every node can name the owner.
 */
export class OwnerBook {
  readonly #options: TransportOptions;
  readonly #byOrigin = new Map<string, Transport>();
  readonly #byRun = new Map<string, Transport>();
  #first: Transport;

  constructor(options: TransportOptions, otherUrls: readonly string[] = []) {
    this.#options = options;
    this.#first = this.at(options.url);
    for (const url of otherUrls) this.at(url);
  }

  /** Whether a node has named the owner of a run. Otherwise every request goes to the first node. */
  get hasOwners(): boolean {
    return this.#byRun.size > 0;
  }

  get first(): Transport {
    return this.#first;
  }

  /** The node to ask about a run, or about nothing in particular. */
  of(run: RunName): Transport {
    return (run === undefined ? undefined : this.#byRun.get(run)) ?? this.#first;
  }

  /** The node at an address: a URL, or `host:port`, which is reached like the first node. */
  at(address: string): Transport {
    const url = address.includes("://") ? address : `${new URL(this.#options.url).protocol}//${address}`;
    const key = url.replace(/\/$/, "");
    let transport = this.#byOrigin.get(key);
    if (transport === undefined) {
      transport = new Transport({ ...this.#options, url });
      this.#byOrigin.set(key, transport);
    }
    return transport;
  }

  /** Note which node owns a run. Anything but `host:port` is ignored: the client's token goes there. */
  follow(run: RunName, owner: string): void {
    if (run === undefined || !ADDRESS.test(owner)) return;
    const transport = this.at(owner);
    this.#byRun.delete(run);
    this.#byRun.set(run, transport);
    if (this.#byRun.size <= CAPACITY) return;
    for (const oldest of this.#byRun.keys()) {
      this.#byRun.delete(oldest);
      return;
    }
  }

  /** Note that a node did not answer about a run. */
  lost(run: RunName, transport: Transport): void {
    if (run !== undefined && this.#byRun.get(run) === transport) this.#byRun.delete(run);
    if (transport !== this.#first) return;
    const all = [...this.#byOrigin.values()];
    this.#first = all[(all.indexOf(transport) + 1) % all.length]!;
  }

  get origin(): string {
    return this.#first.origin;
  }

  close(): void {
    for (const transport of this.#byOrigin.values()) transport.close();
  }
}
