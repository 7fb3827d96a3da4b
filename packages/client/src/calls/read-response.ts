import { narrowCoordError, type AnyCoordError, type ErrorOf, type Operation } from "@gossip/coordination-errors";
import { WireReader } from "@gossip/protocol";
import { assert, err, type Result } from "@gossip/stdx";

/** Read a response. One that does not hold what the protocol says is a defect of the server. */
export function value<T>(read: (reader: WireReader) => T): T {
  const reader = new WireReader();
  const got = reader.done(read(reader));
  assert(got.ok, () => (got.ok ? "" : `the server's response must hold ${got.error.expected} in ${got.error.field}`));
  return got.value;
}

export function failed<Op extends Operation>(operation: Op, error: AnyCoordError): Result<never, ErrorOf<Op>> {
  return err(narrowCoordError(operation, error));
}
