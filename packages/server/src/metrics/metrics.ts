/** How often each operation was asked for, by status, and how long it took. */
export class Metrics {
  readonly #requests = new Map<string, { count: number; seconds: number }>();
  readonly #elements = new Map<string, number>();

  /** Note a request that was answered. */
  request(operation: string, status: number, ms: number): void {
    const key = `operation="${operation}",status="${status}"`;
    const seen = this.#requests.get(key) ?? { count: 0, seconds: 0 };
    seen.count++;
    seen.seconds += ms / 1000;
    this.#requests.set(key, seen);
  }

  elements(operation: string, count: number): void {
    const key = `operation="${operation}"`;
    this.#elements.set(key, (this.#elements.get(key) ?? 0) + count);
  }

  /** The Prometheus text format, with gauges that the caller reads off. */
  render(gauges: Readonly<Record<string, number>>): string {
    const lines = ["# TYPE gossip_requests_total counter"];
    for (const [labels, { count }] of this.#requests) lines.push(`gossip_requests_total{${labels}} ${count}`);
    lines.push("# TYPE gossip_request_seconds_total counter");
    for (const [labels, { seconds }] of this.#requests)
      lines.push(`gossip_request_seconds_total{${labels}} ${seconds.toFixed(6)}`);
    lines.push("# TYPE gossip_elements_total counter");
    for (const [labels, count] of this.#elements) lines.push(`gossip_elements_total{${labels}} ${count}`);
    for (const [name, value] of Object.entries(gauges)) lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
    return `${lines.join("\n")}\n`;
  }
}
