// A server of the chaos test: a real process on a real store, with a clock and a disk that can be tampered with from outside.
import { unwrap } from "@gossip/stdx";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import { foreverMs, type LeaderState } from "../driver/leader-state.ts";
import { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { EtcdDriver } from "../etcd-driver/etcd-driver.ts";
import { FileDriver } from "../file/file-driver.ts";
import type { SlotIo } from "../file/slot-io.ts";
import { OracleServer } from "../server/oracle-server.ts";

export interface ChaosServerOptions {
  readonly port: number;
  readonly store:
    | { readonly kind: "file"; readonly directory: string }
    | { readonly kind: "etcd"; readonly endpoint: string };
  readonly windowAheadMs: number;
  /** Serve on past the deadline of the leadership, as if it never ended: a fault on purpose, for the checker to find. */
  readonly ignoresDeadline: boolean;
}

/** What the test may do to a running server. */
export type Tampering = { readonly stepClockMs: number } | { readonly breakDisk: "write" | "datasync" };

const options = JSON.parse(process.argv[2]!) as ChaosServerOptions;
let clockOffsetMs = 0;
let brokenDisk: "write" | "datasync" | undefined;
process.on("message", (tampering: Tampering) => {
  if ("stepClockMs" in tampering) clockOffsetMs += tampering.stepClockMs;
  else brokenDisk = tampering.breakDisk;
});
// The test is gone: so is the reason to run.
process.on("disconnect", () => process.exit(1));

const driver = await openDriver();
const server = unwrap(
  await OracleServer.start({
    driver: options.ignoresDeadline ? withoutDeadline(driver) : driver,
    windowAheadMs: options.windowAheadMs,
    failoverAdvanceMs: options.windowAheadMs,
    clock: { nowMs: () => Date.now() + clockOffsetMs },
    listen: [{ port: options.port }],
    onEvent: (event) => {
      console.log(`event ${event.kind}`);
      // As the program does: what the disk holds is not known any more.
      if (event.kind === "PersistFailed") process.exit(1);
    },
  }),
);
// Before it prints that it serves: the test may then send SIGTERM.
process.once("SIGTERM", () => void server.shutdown());
server.oracle.subscribe((state) => console.log(state.kind === "Serving" ? `serving ${state.epoch}` : "idle"));
console.log(server.oracle.state.kind === "Serving" ? `serving ${server.oracle.state.epoch}` : "idle");
const finished = await server.finished;
await driver.close();
process.exit(finished.ok ? 0 : 1);

async function openDriver(): Promise<ConsensusDriver> {
  const { store, port } = options;
  if (store.kind === "file") return unwrap(await FileDriver.open({ directory: store.directory, wrapIo: breakable }));
  return new EtcdDriver({
    endpoints: [store.endpoint],
    leaseTtlS: 1,
    advertise: unwrap(PeerEndpoint.parse(`127.0.0.1:${port}`)),
  });
}

function breakable(io: SlotIo): SlotIo {
  const fail = (): Promise<never> => Promise.reject(Object.assign(new Error("the disk is broken"), { code: "EIO" }));
  return {
    // Half of it arrives: a write that fails may have done anything.
    write: async (bytes, position) => {
      if (brokenDisk !== "write") return io.write(bytes, position);
      await io.write(bytes.subarray(0, bytes.length / 2), position);
      return fail();
    },
    datasync: () => (brokenDisk === "datasync" ? fail() : io.datasync()),
    close: () => io.close(),
  };
}

function withoutDeadline(inner: ConsensusDriver): ConsensusDriver {
  return {
    async *leadershipEvents(): AsyncIterable<LeaderState> {
      for await (const state of inner.leadershipEvents()) {
        if (state.kind === "Leader") yield { ...state, servesUntilMs: foreverMs };
      }
    },
    loadHighWater: () => inner.loadHighWater(),
    persistHighWater: (atLeastMs, epoch) => inner.persistHighWater(atLeastMs, epoch),
    close: () => inner.close(),
  };
}
