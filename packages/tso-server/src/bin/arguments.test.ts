// A mistyped flag must be an error, not a default: a server that listens where it was not meant to, or forgets
// where its state was, is found out too late.
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { parseCommand } from "./arguments.ts";

describe("parseCommand", () => {
  test("serve needs no more than a folder, and then listens on loopback only", () => {
    expect(parseCommand(["serve", "--data", "d"])).toEqual({
      ok: true,
      value: {
        kind: "serve",
        store: { kind: "file", directory: "d" },
        listen: { host: "127.0.0.1", port: 50_551 },
        socketPath: undefined,
        http: { host: "127.0.0.1", port: 50_552 },
        advertise: undefined,
        security: {},
        windowAheadMs: 3000,
        failoverAdvanceMs: 1000,
        heartbeatS: 60,
        limits: { maxConnections: 10_000, maxConnectionsPerAddress: 1000, idleTimeoutMs: 600_000 },
      },
    });
  });

  test("every flag arrives", () => {
    const flags =
      "--etcd http://a:2379,https://b:2379 --listen [::1]:7 --socket /s --http off --advertise me:9 --prefix p --lease-ttl 5 --window-ahead 10 --failover-advance 0 --heartbeat 0 --etcd-user u --etcd-password-file f --etcd-ca ca --etcd-cert c --etcd-key k --etcd-server-name s --tls-cert tc --tls-key tk --tls-client-ca tca --tokens t --max-connections 5 --max-per-address 4 --idle-timeout 3";
    expect(unwrap(parseCommand(["serve", ...flags.split(" ")]))).toEqual({
      kind: "serve",
      store: {
        kind: "etcd",
        settings: {
          endpoints: ["http://a:2379", "https://b:2379"],
          user: "u",
          "password-file": "f",
          ca: "ca",
          cert: "c",
          key: "k",
          "server-name": "s",
        },
        prefix: "p",
        leaseTtlS: 5,
      },
      listen: { host: "::1", port: 7 },
      socketPath: "/s",
      http: undefined,
      advertise: "me:9",
      security: { tlsCert: "tc", tlsKey: "tk", tlsClientCa: "tca", tokens: "t" },
      windowAheadMs: 10,
      failoverAdvanceMs: 0,
      heartbeatS: 0,
      limits: { maxConnections: 5, maxConnectionsPerAddress: 4, idleTimeoutMs: 3000 },
    });
    expect(parseCommand(["init", "--data", "d", "--seed-physical-ms", "17"])).toEqual({
      ok: true,
      value: { kind: "init", directory: "d", seedPhysicalMs: 17 },
    });
    expect(unwrap(parseCommand(["serve", "--data", "d", "--listen", "0.0.0.0:0"]))).toMatchObject({
      listen: { host: "0.0.0.0", port: 0 },
    });
  });

  test.each([[[]], [["help"]], [["--help"]], [["serve", "-h"]]])("%j asks for help", (argv) => {
    expect(parseCommand(argv)).toEqual({ ok: true, value: { kind: "help" } });
  });

  test.each([
    "serve",
    "serve --data",
    "serve --data=",
    "serve --data d --etcd http://a:1",
    "serve --etcd a:2379",
    "serve --etcd ftp://a",
    "serve --etcd http://a:1 --etcd-cert c",
    "serve --data d --max-connections 0",
    "serve --data d extra",
    "serve --data d --lisen a:1",
    "serve --data d --listen a",
    "serve --data d --listen http://a:1",
    "serve --data d --http nowhere",
    "serve --data d --window-ahead soon",
    "serve --data d --window-ahead -1",
    "serve --etcd http://a:1 --lease-ttl 0",
    "serve --etcd http://a:1 --advertise http://me:1",
    "init --data d",
    "init --seed-physical-ms 5",
    "init --data d --seed-physical-ms 5.5",
    "sreve --data d",
  ])("%s is refused with a sentence", (line) => {
    const refused = parseCommand(line.split(" "));
    expect(refused).toMatchObject({ ok: false, error: { kind: "Usage" } });
    expect(!refused.ok && refused.error.message.length).toBeGreaterThan(10);
  });
});
