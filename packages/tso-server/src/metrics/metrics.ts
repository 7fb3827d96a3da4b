import { assert } from "@gossip/stdx";
import { METRICS, type CounterName, type GaugeName, type HistogramName, type MetricName } from "./metric-names.ts";

/** A count that only grows. */
export class Counter {
  readonly type = "counter";
  #value = 0;

  get value(): number {
    return this.#value;
  }

  add(amount = 1): void {
    this.#value += amount;
  }
}

/** A value that goes up and down. Its owner sets it, or provides a function that is called on every scrape. */
export class Gauge {
  readonly type = "gauge";
  #read: () => number = () => 0;

  get value(): number {
    return this.#read();
  }

  set value(value: number) {
    this.#read = () => value;
  }

  follow(read: () => number): void {
    this.#read = read;
  }
}

/** Upper ends of the buckets, in seconds: from a fast disk's sync to a lost election. */
export const HISTOGRAM_BOUNDS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** How often something took how long. */
export class Histogram {
  readonly type = "histogram";
  readonly #counts = Array.from({ length: HISTOGRAM_BOUNDS_S.length + 1 }, () => 0);
  #sumS = 0;
  #count = 0;

  observeMs(durationMs: number): void {
    assert(typeof durationMs === "number" && !Number.isNaN(durationMs), "a duration is a number of milliseconds");
    const seconds = Math.max(0, durationMs) / 1000;
    const bucket = HISTOGRAM_BOUNDS_S.findIndex((bound) => seconds <= bound);
    this.#counts[bucket === -1 ? HISTOGRAM_BOUNDS_S.length : bucket]! += 1;
    this.#sumS += seconds;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  get sumS(): number {
    return this.#sumS;
  }

  /** How many observations were at most as long as each bound. */
  cumulativeCounts(): readonly number[] {
    let total = 0;
    return HISTOGRAM_BOUNDS_S.map((_, bucket) => (total += this.#counts[bucket]!));
  }
}

/** One value of a metric; `labels` tells apart the values that share a name. */
export interface MetricValue {
  readonly name: MetricName;
  readonly labels: string;
  readonly metric: Counter | Gauge | Histogram;
}

/**
 * What a server or a client has counted. It works without any exporter: read a value, or render all
 * of them with `renderPrometheus`.
 */
export class Metrics {
  readonly #values = new Map<string, MetricValue>();

  counter(name: CounterName, labels = ""): Counter {
    return this.#get(name, labels, Counter);
  }

  gauge(name: GaugeName): Gauge {
    return this.#get(name, "", Gauge);
  }

  histogram(name: HistogramName): Histogram {
    return this.#get(name, "", Histogram);
  }

  /** Every value touched so far, in the order of the names. */
  values(): readonly MetricValue[] {
    return [...this.#values.values()].toSorted((a, b) => (a.name + a.labels < b.name + b.labels ? -1 : 1));
  }

  #get<T extends Counter | Gauge | Histogram>(name: MetricName, labels: string, kind: new () => T): T {
    assert(
      typeof name === "string" && typeof labels === "string",
      "a metric has one of the published names, and labels as text",
    );
    const key = `${name}{${labels}}`;
    let value = this.#values.get(key);
    if (value === undefined) {
      assert(Object.hasOwn(METRICS, name), "a metric has one of the published names");
      value = { name, labels, metric: new kind() };
      this.#values.set(key, value);
    }
    return value.metric as T;
  }
}
