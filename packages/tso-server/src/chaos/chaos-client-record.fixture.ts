// The arguments and the output of a chaos client: shared with the test, which must not run the client itself.

export interface ChaosClientOptions {
  readonly endpoints: readonly string[];
  readonly attemptMs: number;
  readonly outPath: string;
}

/** Sent, received, first, last: eight bytes each. */
export const RECORD_SIZE = 32;
