// A timestamp over TCP, server and client in processes of their own: beside a raw echo of frames of the same size, coalesced
// in the same way, and beside unary gRPC with messages that need no parsing.
import { compare } from "@gossip/tools/bench";
import { unwrap } from "@gossip/stdx";
import { TimestampClient } from "@gossip/tso-server";
import { BenchServer, EchoClient, GrpcClient } from "./bench-clients.fixture.ts";

const servers = { oracle: new BenchServer("oracle"), echo: new BenchServer("echo"), grpc: new BenchServer("grpc") };
process.once("exit", () => Object.values(servers).forEach((server) => server.stop()));

const client = unwrap(TimestampClient.create({ endpoints: [`127.0.0.1:${await servers.oracle.port()}`] }));
const echo = await EchoClient.connect(await servers.echo.port());
const grpc = new GrpcClient(await servers.grpc.port());

/** `callers` calls at once, and the wait for the last. */
function together(callers: number, call: () => Promise<unknown>): () => Promise<number> {
  return async () => {
    const asked: Promise<unknown>[] = [];
    for (let caller = 0; caller < callers; caller++) asked.push(call());
    return (await Promise.all(asked)).length;
  };
}

/** Both sides compile what is hot only after a while, and ours has more to compile than an echo. */
async function warm(...calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  const rounds = process.argv.includes("--smoke") ? 1 : 2000;
  for (const call of calls) for (let round = 0; round < rounds; round++) await call();
}

// Apart from one another: what gRPC leaves for the collector would be collected during another form's turn.
for (const callers of [64, 1024]) {
  const name = `a timestamp over TCP, ${callers.toLocaleString("en")} callers`;
  const ours = together(callers, () => client.getTs());
  const raw = together(callers, () => echo.call());
  const options = { callsPerRun: callers, measureHeap: false, sampleMs: 20 };
  compare(`${name}, beside an echo`, {
    forms: { ours, "raw echo, coalesced": raw },
    options,
    before: () => warm(ours, raw),
    bounds: [{ form: "ours", ratioAtMost: 1 / 0.7, toBestOf: ["raw echo, coalesced"] }],
  });
  compare(`${name}, beside gRPC`, {
    forms: { ours, "unary grpc-js": together(callers, () => grpc.call()) },
    options,
    bounds: [{ form: "ours", ratioAtMost: 1 / 20, toBestOf: ["unary grpc-js"] }],
  });
}

// Call by call in turn: blocks of calls would compare how the scheduler placed two servers, not what they cost.
compare("a timestamp over TCP, one caller, beside a round trip", {
  forms: { ours: () => client.getTs(), "raw TCP round trip": () => echo.roundTrip() },
  options: { measureHeap: false, sampleMs: 0.001, rounds: 3001 },
  before: () =>
    warm(
      () => client.getTs(),
      () => echo.roundTrip(),
    ),
  bounds: [{ form: "ours", ratioAtMost: 1.5, toBestOf: ["raw TCP round trip"] }],
});

compare("a timestamp over TCP, one caller, beside gRPC", {
  forms: { ours: () => client.getTs(), "unary grpc-js": () => grpc.call() },
  options: { measureHeap: false, sampleMs: 20 },
});
