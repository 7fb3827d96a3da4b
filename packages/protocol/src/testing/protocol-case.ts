import type { ServiceProbe } from "./service-probe.ts";

/** One thing that a server must do. */
export interface ProtocolCase {
  readonly name: string;
  /** Whether it needs a second token, for another tenant. */
  readonly needsStranger?: boolean;
  /** Throws `ConformanceFailure` if the server does something else. */
  readonly run: (probe: ServiceProbe) => Promise<void>;
}
