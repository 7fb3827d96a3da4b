import type { ErrorWire, ProtocolErrorKind } from "@gossip/protocol";

/**
 * The server refused a request for a reason that trying again does not change: no valid token, a missing role, a request
 * that it does not understand.
 */
export class ServiceRefused extends Error {
  override readonly name = "ServiceRefused";
  readonly kind: ProtocolErrorKind;
  readonly status: number;

  constructor(error: ErrorWire, status: number) {
    super(error.message);
    this.kind = error.kind as ProtocolErrorKind;
    this.status = status;
  }
}
