// Times one form: a loop of its own, long enough for the clock.
import type { Form } from "./comparison.ts";

/** Runs calls `first` to `first + count - 1` and answers nanoseconds for all of them. */
export type Loop = (first: number, count: number) => number | Promise<number>;

/** Keeps results alive, so that the compiler cannot drop the work. */
const sink: { value: unknown } = { value: undefined };

/**
 * A loop made for this form alone.
 *
 * A loop shared by all forms would see many targets at its call site and inline
 * none of them; then every form costs a call, and short ones look alike. Source
 * text of its own gives each form a call site of its own.
 */
export function makeLoop(form: Form, isAsync: boolean): Loop {
  const body = `
    const end = first + count;
    const started = now();
    for (let call = first; call < end; call++) sink.value = ${isAsync ? "await " : ""}form(call);
    return Number(now() - started);
  `;
  const source = `return ${isAsync ? "async " : ""}(first, count) => {${body}};`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the point, see above
  const make = new Function("form", "sink", "now", source) as (
    form: Form,
    sinkObject: object,
    now: () => bigint,
  ) => Loop;
  return make(form, sink, () => process.hrtime.bigint());
}

/** A loop that makes each call ready before it, outside of the time that is taken. For forms that take milliseconds. */
export function makePreparedLoop(form: Form, prepare: (call: number) => Promise<void>): Loop {
  return async (first, count) => {
    let ns = 0n;
    for (let call = first; call < first + count; call++) {
      await prepare(call);
      const started = process.hrtime.bigint();
      sink.value = await form(call);
      ns += process.hrtime.bigint() - started;
    }
    return Number(ns);
  };
}

/** Whether one call of the form gives a promise. */
export async function isAsyncForm(form: Form): Promise<boolean> {
  const result = form(0);
  const isAsync = result instanceof Promise;
  await result;
  return isAsync;
}

/** How many calls fill a sample of about `sampleNs`. Also warms the form up. */
export async function calibrate(loop: Loop, sampleNs: number): Promise<number> {
  let count = 1;
  for (;;) {
    const ns = await loop(0, count);
    if (ns >= sampleNs || count >= 1 << 26) break;
    count = ns < sampleNs / 16 ? count * 4 : count * 2;
  }
  // The first pass ran cold code; measure once more at this length, now warm.
  const warm = await loop(0, count);
  return Math.max(1, Math.round((count * sampleNs) / Math.max(1, warm)));
}
