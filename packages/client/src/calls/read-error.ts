import {
  coordError,
  InfraError,
  parseCoordError,
  type AnyCoordError,
  type BackendError,
} from "@gossip/coordination-errors";
import { isProtocolErrorKind, PROTOCOL_ERRORS, type ErrorWire } from "@gossip/protocol";
import { InvariantViolation } from "@gossip/stdx";
import { LostReply } from "../http/transport.ts";
import { ServiceRefused } from "./refused-error.ts";

/** Whether the same request can succeed later, or at another node. */
export function isPassing({ kind }: ErrorWire): boolean {
  return isProtocolErrorKind(kind) && PROTOCOL_ERRORS[kind].advice === "RetrySameOpId";
}

/** The error that a caller gets. Throws if the server refuses the program rather than the operation. */
export function readError(error: ErrorWire, status: number): AnyCoordError {
  const parsed = parseCoordError(error);
  if (parsed.ok) return parsed.value;
  if (error.kind === "InternalError")
    throw new InvariantViolation("the server reported a defect; its log has the reason");
  if (isProtocolErrorKind(error.kind) && !isPassing(error)) throw new ServiceRefused(error, status);
  return unreachable("the service cannot take the request now");
}

/** The error of a call that was given up without an answer. */
export function lost(cause: unknown): AnyCoordError {
  const isUntrusted = cause instanceof LostReply && cause.isUntrusted;
  return unreachable(
    isUntrusted ? "the certificate of the service is not trusted" : "the service did not answer in time",
    cause,
  );
}

/** The error of a call that was given up. */
export function unreachable(
  message:
    | "the service cannot take the request now"
    | "the service did not answer in time"
    | "the certificate of the service is not trusted",
  cause?: unknown,
): AnyCoordError {
  const { code } = (cause ?? {}) as { readonly code?: string };
  return coordError("BackendError", {
    reason: InfraError.transient({ operation: "service.request", message, code, cause }),
  });
}

/** The error of a call whose response is not one of a service. */
export function notAService(): BackendError {
  const message = "what answers there is not a service of gossip";
  return coordError("BackendError", { reason: InfraError.corruption({ operation: "service.request", message }) });
}
