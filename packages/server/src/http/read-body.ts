import { protocolError, type ProtocolError } from "@gossip/protocol";
import { err, ok, type Result } from "@gossip/stdx";
import type { IncomingMessage } from "node:http";
import type { BodyAllowance } from "../limits/admission.ts";

/** Read a body of up to `maxBytes`. A larger one is refused by its declared size, before it is read. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  allowance: Pick<BodyAllowance, "take"> = UNCOUNTED,
): Promise<Result<Buffer, ProtocolError>> {
  const tooLarge = protocolError("TooLarge", `a body may have up to ${maxBytes} bytes`);
  const declared = request.headers["content-length"];
  if (Number(declared ?? 0) > maxBytes) return Promise.resolve(err(tooLarge));
  if (!allowance.take(Number(declared ?? 0))) return Promise.resolve(err(TOO_MANY_BYTES));
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const finish = (result: Result<Buffer, ProtocolError>): void => {
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      resolve(result);
    };
    const onData = (part: Buffer): void => {
      size += part.length;
      parts.push(part);
      if (size > maxBytes) finish(err(tooLarge));
      // Without a declared size, bytes are counted as they come.
      else if (declared === undefined && !allowance.take(part.length)) finish(err(TOO_MANY_BYTES));
    };
    const onEnd = (): void => finish(ok(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    const onClose = (): void => finish(err(protocolError("BadRequest", "the connection was closed in the body")));
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

const UNCOUNTED: Pick<BodyAllowance, "take"> = { take: () => true };
const TOO_MANY_BYTES = protocolError("Overloaded", "the server has too many requests in progress", {
  retryAfterMs: 1_000,
});

/** Parse a body of JSON. Only a body of type `application/json` is taken: a form of a web page cannot send one. */
export function parseJson(request: IncomingMessage, body: Buffer): Result<unknown, ProtocolError> {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    return err(protocolError("WrongMediaType", "send the body as application/json"));
  try {
    return ok(JSON.parse(body.toString("utf8")) as unknown);
  } catch {
    return err(protocolError("BadRequest", "the body is not JSON"));
  }
}
