// Something in front of etcd may answer in its place. An empty object from there would mean "no such key" to a client that trusts it,
// and an election would have two winners.
import { InvariantViolation } from "@gossip/stdx";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EtcdClient } from "./etcd-client.ts";
import { FakeMember } from "./fake-member.fixture.ts";

let member: FakeMember;
let client: EtcdClient;
beforeAll(async () => {
  member = await FakeMember.start();
  client = new EtcdClient({ endpoints: [member.endpoint] });
});
afterAll(async () => {
  client.close();
  await member.close();
});

const nothing = { compare: [], success: [], failure: [] };

test.each(["{}", '{"kvs":[]}', '{"header":{}}', '{"header":{"revision":7}}', '{"header":{"revision":"0"},"kvs":[]}'])(
  "%s is not etcd's word",
  async (body) => {
    member.reply = () => ({ status: 200, body });
    const answers = [
      await client.get("k"),
      await client.txn(nothing),
      await client.grantLease(5),
      await client.put({ put: "k", value: "v" }),
      await client.delete("k"),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ ok: false, error: { kind: "EtcdUnavailable", mayBeDone: true } });
  },
);

const header = '"header":{"revision":"7"}';

test.each([
  `{${header}}`,
  `{${header},"kvs":7}`,
  `{${header},"kvs":[{}]}`,
  `{${header},"kvs":[{"create_revision":"x","value":3}]}`,
  `{${header},"responses":[null,7,{"response_range":{"kvs":[null]}},{"response_txn":9}],"succeeded":"yes"}`,
])("what is missing or odd in %s becomes nothing, zero or false", async (body) => {
  member.reply = () => ({ status: 200, body });
  const [got, done, lease, alive] = [
    await client.get("k"),
    await client.txn(nothing),
    await client.keepLeaseAlive(5n, 1000),
    await client.isLeaseAlive(5n),
  ];
  expect([got.ok, done.ok && done.value.succeeded, lease, alive.ok]).toEqual([
    true,
    false,
    { ok: true, value: { ttlS: 0 } },
    true,
  ]);
});

test.each([
  ["get", undefined],
  ["range", undefined],
  ["range", { get: 5 }],
  ["put", undefined],
  ["put", { put: "k", value: 5 }],
  ["delete", 7],
  ["txn", undefined],
  ["txn", { compare: [] }],
  ["txn", { compare: [undefined], success: [] }],
  ["txn", { compare: [], success: [null] }],
  ["grantLease", 0.5],
  ["keepLeaseAlive", 5],
  ["isLeaseAlive", undefined],
  ["revokeLease", "x"],
] as const)("%s of %j is refused in a sentence, and nothing is sent", async (method, argument) => {
  const before = member.requests.length;
  await expect((client[method] as (given: unknown) => Promise<unknown>).call(client, argument)).rejects.toThrow(
    InvariantViolation,
  );
  expect(member.requests.length).toBe(before);
});
