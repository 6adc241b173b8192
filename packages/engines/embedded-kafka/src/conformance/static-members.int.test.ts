import { type Cluster, newName, startCluster } from '../testing/cluster.ts';
import { RawClient } from '../testing/raw-client.ts';

interface StaticMember {
  readonly memberId: string;
  readonly generation: number;
}

let cluster: Cluster;
let client: RawClient;
beforeAll(async () => {
  cluster = await startCluster({ minSessionTimeoutMs: 1_000 });
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  client = await RawClient.connect(cluster.brokers);
});
afterEach(() => client.close());

// Version 0, the topic "t", no user data. Apache Kafka parses it. Source: ConsumerProtocolSubscription.json.
const SUBSCRIPTION = Buffer.from('00000000000100017400000000', 'hex');

const INSTANCE_ID = 'one';

const join = async (groupId: string) => {
  const response = await client.request(11, 5, (body) => {
    body.string(groupId).int32(30_000).int32(30_000).string('').string(INSTANCE_ID).string('consumer');
    body.array(['range'], (name) => body.string(name).bytes(SUBSCRIPTION));
  });
  response.int32();
  const [error, generation] = [response.int16(), response.int32()];
  const [protocol, leader, memberId] = [response.string(), response.string(), response.string()];
  return { error, generation, protocol, leader, memberId };
};

const sync = async (groupId: string, { generation, memberId }: StaticMember, assignments: string[]) => {
  const response = await client.request(14, 3, (body) => {
    body.string(groupId).int32(generation).string(memberId).string(INSTANCE_ID);
    body.array(assignments, (assignment) => body.string(memberId).bytes(Buffer.from(assignment)));
  });
  response.int32();
  return { error: response.int16(), assignment: String(response.bytes()) };
};

const heartbeat = async (groupId: string, { generation, memberId }: StaticMember) => {
  const response = await client.request(12, 3, (body) =>
    body.string(groupId).int32(generation).string(memberId).string(INSTANCE_ID),
  );
  response.int32();
  return response.int16();
};

test('a restarted static member keeps its assignment without a rebalance, and fences its predecessor', async () => {
  const groupId = newName('group');
  const first = await join(groupId);
  expect(first).toMatchObject({ error: 0, leader: first.memberId });
  expect(await sync(groupId, first, ['work'])).toEqual({ error: 0, assignment: 'work' });

  const second = await join(groupId);
  expect(second).toMatchObject({ error: 0, generation: first.generation });
  expect(second.memberId).not.toBe(first.memberId);
  expect(await sync(groupId, second, [])).toEqual({ error: 0, assignment: 'work' });
  expect(await heartbeat(groupId, second)).toBe(0);
  expect(await heartbeat(groupId, first)).toBe(82);
});
