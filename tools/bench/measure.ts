// Runs one comparison: every form in every round, in rotating order.
import type { Form, NamedComparison } from "./comparison.ts";
import { heapBytesPerCall } from "./heap.ts";
import { calibrate, isAsyncForm, makeLoop, makePreparedLoop, type Loop } from "./sample.ts";
import { spreadOf, type Spread } from "./statistics.ts";
import { warmUp } from "./warm-up.ts";

export interface FormResult {
  readonly name: string;
  /** Nanoseconds a call, one sample a round. */
  readonly samples: readonly number[];
  readonly ns: Spread;
  readonly heapBytes: number | undefined;
}

interface Prepared {
  readonly name: string;
  readonly form: Form;
  readonly isAsync: boolean;
  readonly loop: Loop;
  readonly samples: number[];
  count: number;
  next: number;
}

export async function measure(comparison: NamedComparison): Promise<FormResult[]> {
  const { rounds = 41, sampleMs = 2, settleMs = 0, warmMs = 150 } = comparison.options ?? {};
  const { callsPerRun = 1, measureHeap = true } = comparison.options ?? {};
  const prepared: Prepared[] = [];
  for (const [name, form] of Object.entries(comparison.forms)) prepared.push(await prepare(comparison, name, form));
  await warmUp(prepared, warmMs * 1e6);
  for (const form of prepared) {
    form.count = await calibrate(form.loop, sampleMs * 1e6);
    form.next = form.count;
  }

  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < prepared.length; turn++) {
      const form = prepared[(round + turn) % prepared.length]!;
      const settleCount = Math.round((form.count * settleMs) / sampleMs);
      if (settleCount > 0) await form.loop(form.next, settleCount);
      form.next += settleCount;
      const ns = await form.loop(form.next, form.count);
      form.next += form.count;
      form.samples.push(ns / form.count / callsPerRun);
    }
  }

  return prepared.map(({ name, form, isAsync, loop, samples }) => ({
    name,
    samples,
    ns: spreadOf(samples),
    heapBytes: measureHeap && !isAsync ? heapOf(form, loop) / callsPerRun : undefined,
  }));
}

/** Every form once: shows that it still runs. */
export async function smoke(comparison: NamedComparison): Promise<void> {
  for (const [name, form] of Object.entries(comparison.forms)) {
    await comparison.prepare?.(name, 0);
    await form(0);
  }
}

async function prepare({ prepare: makeReady }: NamedComparison, name: string, form: Form): Promise<Prepared> {
  if (makeReady !== undefined) {
    return {
      name,
      form,
      isAsync: true,
      loop: makePreparedLoop(form, (call) => makeReady(name, call)),
      samples: [],
      count: 1,
      next: 0,
    };
  }
  const isAsync = await isAsyncForm(form);
  return { name, form, isAsync, loop: makeLoop(form, isAsync), samples: [], count: 1, next: 0 };
}

function heapOf(form: Form, loop: Loop): number {
  // Few calls of a slow form, many of a fast one: what a try allocates must fit into the young generation.
  const started = process.hrtime.bigint();
  form(0);
  const ns = Number(process.hrtime.bigint() - started);
  const calls = Math.max(20, Math.min(20_000, Math.round(2e7 / Math.max(1, ns))));
  return heapBytesPerCall((count) => void loop(0, count), calls);
}
