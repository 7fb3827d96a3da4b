// Bytes that a call leaves on the heap for the collector, whether or not they are soon garbage.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The collector, also where Node was not started with `--expose-gc` (a test worker). */
const collect = globalThis.gc ?? exposedCollector();

function exposedCollector(): NodeJS.GCFunction {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as NodeJS.GCFunction;
}

/**
 * Heap and array-buffer bytes a call of `run` allocates.
 *
 * Grows the heap over many calls with no collection in between and takes the
 * least of several tries: background compilation can add to a try, and a
 * collection could only subtract; tries that shrank are thrown away.
 */
export function heapBytesPerCall(run: (calls: number) => void, calls = 20_000): number {
  run(calls);
  run(calls);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 12; attempt++) {
    collect();
    const before = allocated();
    run(calls);
    const grown = allocated() - before;
    if (grown >= 0) least = Math.min(least, grown / calls);
  }
  return least;
}

function allocated(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
