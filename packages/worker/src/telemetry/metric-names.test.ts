// Dashboards are built from the names in the README. A name that is missing there is never found; one that is not in the
// code shows nothing.

import { readFileSync } from "node:fs";
import type { MeterProvider } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { WorkerMetrics } from "./worker-metrics.ts";

test("the README lists exactly the metrics of this package", () => {
  const names: string[] = [];
  const create = (name: string) => {
    names.push(name);
    return {};
  };
  const meter = { createCounter: create, createUpDownCounter: create, createHistogram: create };
  void new WorkerMetrics({ getMeter: () => meter } as unknown as MeterProvider, {});
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const listed = [...readme.matchAll(/^\| `(gossip\.worker\.[a-z.]+)`/gm)].map(([, name]) => name);
  expect([listed.length, new Set(listed)]).toEqual([names.length, new Set(names)]);
});
