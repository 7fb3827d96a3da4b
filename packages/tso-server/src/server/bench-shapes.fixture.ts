// What both sides of the server benches agree on.
import type { MethodDefinition } from "@grpc/grpc-js";

/** The sizes of the oracle's frames. */
export const ECHO_REQUEST_SIZE = 13;
export const ECHO_REPLY_SIZE = 39;

const asIs = (bytes: Buffer): Buffer => bytes;

export const GRPC_METHOD: MethodDefinition<Buffer, Buffer> = {
  path: "/tso.Tso/GetTs",
  requestStream: false,
  responseStream: false,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};
