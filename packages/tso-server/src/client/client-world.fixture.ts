// Everything a test of the client needs, and the end of it all.
import { unwrap } from "@gossip/stdx";
import type { Request } from "../wire/frame.ts";
import { FakeServer, type Act } from "./fake-server.fixture.ts";
import { ScriptedTime } from "./scripted-time.fixture.ts";
import { TimestampClient, type ClientOptions } from "./timestamp-client.ts";

export class ClientWorld {
  readonly time = new ScriptedTime();
  readonly #closing: (() => unknown)[] = [];

  async serve(act: (request: Request, index: number) => Act): Promise<FakeServer> {
    const server = await FakeServer.start(act);
    this.#closing.push(() => server.close());
    return server;
  }

  connect(endpoints: readonly string[], options: Partial<ClientOptions> = {}): TimestampClient {
    const { timers, monotonicClock } = this.time;
    const client = unwrap(TimestampClient.create({ endpoints, timers, monotonicClock, random: () => 0, ...options }));
    this.#closing.push(() => client.close());
    return client;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#closing.map((close) => close()));
  }
}

/** An endpoint where no server listens. */
export async function deserted(): Promise<string> {
  const server = await FakeServer.start(() => "hang up");
  const { endpoint } = server;
  await server.close();
  return endpoint;
}

export function counter(
  client: TimestampClient,
  name: Parameters<TimestampClient["metrics"]["counter"]>[0],
  labels = "",
): number {
  return client.metrics.counter(name, labels).value;
}
