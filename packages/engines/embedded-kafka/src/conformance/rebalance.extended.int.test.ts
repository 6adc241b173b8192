import { AssignerProtocol } from 'kafkajs';
import { type Cluster, disconnectAll, follow, newName, newTopic, startCluster, until } from '../testing/cluster.ts';
import { RawClient } from '../testing/raw-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ minSessionTimeoutMs: 1_000 });
});
afterAll(() => cluster.stop());

const values = (received: readonly { value: Buffer | null }[]) => received.map(({ value }) => String(value)).sort();
const toEach = (count: number) =>
  Array.from({ length: count }, (_, partition) => ({ partition, value: `m${partition}` }));

test('two consumers of a group share the partitions, and each message goes to one of them', async () => {
  const topic = await newTopic(cluster.admin, 4);
  const groupId = newName('group');
  const one = await follow(cluster.client, topic, { groupId });
  await until(() => one.assigned().length === 4);
  const two = await follow(cluster.client, topic, { groupId });
  await until(() => one.assigned().length === 2 && two.assigned().length === 2);
  expect([...one.assigned(), ...two.assigned()].sort()).toEqual([0, 1, 2, 3]);
  await cluster.producer.send({ topic, messages: toEach(4) });
  await until(() => one.received.length + two.received.length === 4);
  expect(values([...one.received, ...two.received])).toEqual(['m0', 'm1', 'm2', 'm3']);
  expect(one.received).toHaveLength(2);
  await disconnectAll(one.consumer, two.consumer);
});

test('the other members get the partitions of a consumer that leaves', async () => {
  const topic = await newTopic(cluster.admin, 2);
  const groupId = newName('group');
  const stays = await follow(cluster.client, topic, { groupId });
  const leaves = await follow(cluster.client, topic, { groupId });
  await until(() => stays.assigned().length === 1 && leaves.assigned().length === 1);
  await leaves.consumer.disconnect();
  await until(() => stays.assigned().length === 2);
  await cluster.producer.send({ topic, messages: toEach(2) });
  await until(() => stays.received.length === 2);
  await stays.consumer.disconnect();
});

test('consumers of different groups each get all messages', async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
  const [one, two] = await Promise.all([follow(cluster.client, topic), follow(cluster.client, topic)]);
  await until(() => one.received.length === 2 && two.received.length === 2);
  await disconnectAll(one.consumer, two.consumer);
});

test('the other members get the partitions of a consumer that sends no heartbeats', async () => {
  const topic = await newTopic(cluster.admin, 2);
  const groupId = newName('group');
  const stays = await follow(cluster.client, topic, { groupId });
  // The consumer sends no heartbeat until long after its session timeout.
  let entered = () => {};
  const stuck = new Promise<void>((done) => {
    entered = done;
  });
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  const silent = cluster.client.consumer({
    groupId,
    sessionTimeout: 1_500,
    rebalanceTimeout: 6_000,
    heartbeatInterval: 100,
  });
  await silent.connect();
  await silent.subscribe({ topics: [topic], fromBeginning: true });
  await silent.run({
    eachMessage: async () => {
      entered();
      await released;
    },
  });
  await until(() => stays.assigned().length === 1);
  await cluster.producer.send({ topic, messages: toEach(2) });
  await stuck;
  await until(() => stays.assigned().length === 2 && stays.received.length === 2);
  expect(values(stays.received)).toEqual(['m0', 'm1']);
  release();
  await disconnectAll(stays.consumer, silent);
});

test('the other members get the partitions of a crashed consumer after its session timeout', async () => {
  const topic = await newTopic(cluster.admin, 2);
  const groupId = newName('group');
  const stays = await follow(cluster.client, topic, { groupId });
  await until(() => stays.assigned().length === 2);
  const crashes = await RawClient.connect(cluster.brokers);
  const metadata = AssignerProtocol.MemberMetadata.encode({ version: 0, topics: [topic], userData: Buffer.alloc(0) });
  const joined = await crashes.request(11, 3, (body) => {
    body.string(groupId).int32(1_500).int32(6_000).string('').string('consumer');
    body.array(['RoundRobinAssigner'], (name) => body.string(name).bytes(metadata));
  });
  joined.int32();
  expect(joined.int16()).toBe(0);
  await until(() => stays.assigned().length === 1);
  crashes.close();
  await until(() => stays.assigned().length === 2);
  await stays.consumer.disconnect();
});
