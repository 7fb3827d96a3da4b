import { connect, createServer, type Server, type Socket } from "node:net";

export interface SlowNetwork {
  readonly port: number;
  close(): void;
}

/** Passes connections on to a port of this machine. Whatever comes back arrives later, as from a server far away. */
export async function startSlowNetwork(toPort: number, delayMs: number): Promise<SlowNetwork> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(toPort, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
    }
    client.on("data", (chunk) => upstream.write(chunk)).on("close", () => upstream.destroy());
    upstream.on("data", (chunk) => setTimeout(() => client.write(chunk), delayMs));
    upstream.on("close", () => setTimeout(() => client.destroy(), delayMs));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { readonly port: number }).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
