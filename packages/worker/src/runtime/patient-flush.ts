import { SinkFailed } from "../sinks/sink-failed.ts";
import { sleep, type WorkerTime } from "../time/worker-time.ts";

/** What makes results durable. */
export interface ResultFlush {
  flush(): Promise<Uint8Array>;
}

export interface PatientFlushOptions {
  readonly time: WorkerTime;
  /** Whether to wait any longer. */
  readonly isPatient: () => boolean;
  /** The disk is full. The flush is repeated. */
  readonly onFull: () => void;
}

/** How often a flush is repeated while the disk is full. */
const PAUSE_MS = 500;

/** Flush, and wait while the disk is full: an operator may make room. Throws what the sink throws otherwise. */
export async function flushPatiently(
  sink: ResultFlush,
  { time, isPatient, onFull }: PatientFlushOptions,
): Promise<Uint8Array> {
  for (;;) {
    try {
      return await sink.flush();
    } catch (cause) {
      const isFull = cause instanceof SinkFailed && cause.kind === "DiskFull";
      if (!isFull || !isPatient()) throw cause;
      onFull();
      await sleep(time, PAUSE_MS);
    }
  }
}
