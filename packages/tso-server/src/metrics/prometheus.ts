import { assert } from "@gossip/stdx";
import { METRICS, type MetricName } from "./metric-names.ts";
import { Histogram, HISTOGRAM_BOUNDS_S, Metrics, type MetricValue } from "./metrics.ts";

/** All values in the Prometheus text format. */
export function renderPrometheus(metrics: Metrics): string {
  assert(metrics instanceof Metrics, "what is rendered is a Metrics");
  let text = "";
  let announced: MetricName | undefined;
  for (const value of metrics.values()) {
    if (value.name !== announced) {
      announced = value.name;
      const name = exposed(announced);
      text += `# HELP ${name} ${METRICS[announced]}\n# TYPE ${name} ${value.metric.type}\n`;
    }
    text += renderValue(value);
  }
  return text;
}

function renderValue({ name, labels, metric }: MetricValue): string {
  const exposedName = exposed(name);
  if (!(metric instanceof Histogram)) return `${exposedName}${labels === "" ? "" : `{${labels}}`} ${metric.value}\n`;
  const counts = metric.cumulativeCounts();
  const buckets = HISTOGRAM_BOUNDS_S.map((bound, index) => `${exposedName}_bucket{le="${bound}"} ${counts[index]!}\n`);
  return `${buckets.join("")}${exposedName}_bucket{le="+Inf"} ${metric.count}\n${exposedName}_sum ${metric.sumS}\n${exposedName}_count ${metric.count}\n`;
}

function exposed(name: string): string {
  return name.replaceAll(".", "_");
}
