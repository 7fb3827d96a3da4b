// An operator writes this file by hand, and a mistake in it makes runs unreachable: every mistake must be named.
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { parseClusterFile } from "./cluster-file.ts";

const NODES = `
[[cluster.node]]
name = "a"
address = "10.0.0.1:7711"
[[cluster.node]]
name = "b"
address = "[::1]:7711"
`;

test("it names nodes and scopes, the longest prefix deciding", () => {
  const { addresses, table } = unwrap(
    parseClusterFile(`${NODES}
[[cluster.scope]]
prefix = "t/"
writer = "a"
fallback = "b"
[[cluster.scope]]
prefix = "t/${"0".repeat(64)}/r/0000000000000007"
writer = "b"
`),
  );
  expect([...addresses]).toEqual([
    ["a", "10.0.0.1:7711"],
    ["b", "[::1]:7711"],
  ]);
  const owner = (key: string) => table.lookup(Buffer.from(key))?.writer;
  expect([owner(`t/${"0".repeat(64)}/r/0000000000000007`), owner(`t/${"0".repeat(64)}/r/0000000000000008`)]).toEqual([
    "b",
    "a",
  ]);
});

test.each([
  ["a =", ["line 1 is not TOML"]],
  ["", ["there is no [[cluster.node]]", "there is no [[cluster.scope]]"]],
  [
    `color = 1\n[cluster]\nsize = 2\n[[cluster.node]]\nname = "a"\naddress = "a"\nport = 1`,
    [
      "color is not a part of a cluster file",
      "cluster.size is not a part of a cluster file",
      "node 1: port is neither name nor address",
      "node 1: address must be host:port",
      "there is no [[cluster.node]]",
      "there is no [[cluster.scope]]",
    ],
  ],
  [
    `${NODES}[[cluster.node]]\nname = "a"\naddress = "c:1"\n[[cluster.scope]]\nprefix = "t/"\nwriter = "c"`,
    ["node 3: another node has the name a", "scope 1: writer is not one of the peers"],
  ],
  [
    `${NODES}[[cluster.scope]]\nprefix = "app:"\nwriter = "a"`,
    ['no run has a key that begins with "app:": write t/TENANT/r/RUN or its start'],
  ],
  [`${NODES}[[cluster.scope]]\nprefix = "t/X"\nwriter = "a"`, [expect.stringContaining('"t/X"')]],
])("%j is refused with every problem", (text, problems) => {
  expect(parseClusterFile(text)).toEqual({ ok: false, error: { kind: "InvalidCluster", problems } });
});
