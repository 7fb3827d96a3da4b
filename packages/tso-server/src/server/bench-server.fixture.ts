// The other side of the server benches, as a process of its own: `oracle`, `file DIR WINDOW_AHEAD_MS`, `echo` or `grpc`. Prints its port.
import { createServer, type AddressInfo } from "node:net";
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { unwrap } from "@gossip/stdx";
import { FileDriver, MemoryDriver, OracleServer, type ConsensusDriver } from "@gossip/tso-server";
import { ECHO_REPLY_SIZE, ECHO_REQUEST_SIZE, GRPC_METHOD } from "./bench-shapes.fixture.ts";

const [mode, ...args] = process.argv.slice(2) as [string, ...string[]];
process.on("disconnect", () => process.exit(0));

if (mode === "echo") startEcho();
else if (mode === "grpc") await startGrpc();
else if (mode === "oracle") await startOracle(new MemoryDriver(), 3000);
else await startOracle(unwrap(await FileDriver.open({ directory: args[0]! })), Number(args[1]));

async function startOracle(driver: ConsensusDriver, windowAheadMs: number): Promise<void> {
  const server = unwrap(await OracleServer.start({ driver, windowAheadMs, listen: [{ port: 0 }] }));
  const { metrics } = server.oracle;
  process.on("message", () =>
    process.send!({
      extensions: metrics.counter("tsoracle.window.extensions.total").value,
      waits: metrics.counter("tsoracle.window.waits.total").value,
      requests: metrics.counter("tsoracle.get_ts.requests.total").value,
    }),
  );
  if (server.oracle.state.kind !== "Serving")
    await new Promise<void>(
      (resolve) => void server.oracle.subscribe((state) => state.kind === "Serving" && resolve()),
    );
  console.log(server.addresses[0]!.split(":")[1]);
}

/** Frames of the oracle's sizes, answered without being understood. */
function startEcho(): void {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    let rest = 0;
    socket.on("data", (chunk) => {
      const size = rest + chunk.length;
      rest = size % ECHO_REQUEST_SIZE;
      const replies = (size - rest) / ECHO_REQUEST_SIZE;
      if (replies > 0) socket.write(Buffer.allocUnsafe(replies * ECHO_REPLY_SIZE));
    });
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
}

/** The same question over unary gRPC, the messages as bare bytes: no time is spent on protobuf. */
async function startGrpc(): Promise<void> {
  const server = new Server();
  let next = 0;
  const getTs = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>): void => {
    const reply = Buffer.allocUnsafe(ECHO_REPLY_SIZE);
    next += call.request.readUInt32LE(0);
    reply.writeUInt32LE(next, 0);
    answer(null, reply);
  };
  server.addService({ getTs: GRPC_METHOD }, { getTs });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  console.log(port);
}
