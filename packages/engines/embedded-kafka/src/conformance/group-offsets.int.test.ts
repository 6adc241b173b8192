import { type Cluster, follow, newName, newTopic, startCluster, until } from '../testing/cluster.ts';
import { commitOffset } from '../testing/raw-client.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ minSessionTimeoutMs: 1_000 });
});
afterAll(() => cluster.stop());

const values = (received: readonly { value: Buffer | null }[]) => received.map(({ value }) => String(value));
const committed = async (groupId: string, topic: string) => {
  const [offsets] = await cluster.admin.fetchOffsets({ groupId, topics: [topic] });
  return offsets!.partitions.map(({ offset }) => offset);
};

test('a group continues at its committed offset', async () => {
  const topic = await newTopic(cluster.admin);
  const groupId = newName('group');
  await cluster.producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
  const first = await follow(cluster.client, topic, { groupId });
  await until(() => first.received.length === 2);
  await first.consumer.disconnect(); // commits
  expect(await committed(groupId, topic)).toEqual(['2']);
  await cluster.producer.send({ topic, messages: [{ value: 'c' }] });
  const second = await follow(cluster.client, topic, { groupId });
  await until(() => second.received.length === 1);
  await second.consumer.disconnect();
  expect(values(second.received)).toEqual(['c']);
});

test('committed offsets are separate for each group, topic and partition', async () => {
  const topic = await newTopic(cluster.admin, 2);
  const other = await newTopic(cluster.admin, 2);
  const groupId = newName('group');
  expect(await committed(groupId, topic)).toEqual(['-1', '-1']);
  expect(await commitOffset(cluster.brokers, groupId, topic, 3)).toBe(0);
  expect(await committed(groupId, topic)).toEqual(['3', '-1']);
  expect(await commitOffset(cluster.brokers, groupId, topic, 2)).toBe(0); // a lower offset is allowed
  expect(await committed(groupId, topic)).toEqual(['2', '-1']);
  expect(await committed(groupId, other)).toEqual(['-1', '-1']);
  expect(await committed(newName('group'), topic)).toEqual(['-1', '-1']);
});

test('a commit for a missing topic is refused', async () => {
  expect(await commitOffset(cluster.brokers, newName('group'), newName('topic'), 1)).toBe(3);
});

test('a commit by a consumer outside of an active group is refused', async () => {
  const topic = await newTopic(cluster.admin);
  const groupId = newName('group');
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.assigned().length === 1);
  expect(await commitOffset(cluster.brokers, groupId, topic, 0)).toBe(25);
  await member.consumer.disconnect();
});

test('a new group starts at the end of a topic by default', async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, messages: [{ value: 'before' }] });
  const late = await follow(cluster.client, topic, {}, { fromBeginning: false });
  await until(() => late.fetching());
  await cluster.producer.send({ topic, messages: [{ value: 'after' }] });
  await until(() => late.received.length > 0);
  await late.consumer.disconnect();
  expect(values(late.received)).toEqual(['after']);
});

test('a group reads again from an offset that was reset', async () => {
  const topic = await newTopic(cluster.admin);
  const groupId = newName('group');
  await cluster.producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] });
  expect(await commitOffset(cluster.brokers, groupId, topic, 3)).toBe(0);
  expect(await commitOffset(cluster.brokers, groupId, topic, 1)).toBe(0);
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.received.length === 2);
  await member.consumer.disconnect();
  expect(values(member.received)).toEqual(['b', 'c']);
});

test('a group with an offset beyond the end starts at the beginning', async () => {
  const topic = await newTopic(cluster.admin);
  const groupId = newName('group');
  await cluster.producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
  expect(await commitOffset(cluster.brokers, groupId, topic, 100)).toBe(0);
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.received.length === 2);
  await member.consumer.disconnect();
  expect(values(member.received)).toEqual(['a', 'b']);
});
