import { AssignerProtocol } from 'kafkajs';
import {
  type Cluster,
  disconnectAll,
  follow,
  newName,
  newTopic,
  producerOf,
  startCluster,
  until,
} from '../testing/cluster.ts';
import { RawClient, commitOffset } from '../testing/raw-client.ts';

let cluster: Cluster;
let admin: ReturnType<Cluster['client']['admin']>;
let producer: Awaited<ReturnType<typeof producerOf>>;
beforeAll(async () => {
  cluster = await startCluster({ minSessionTimeoutMs: 1_000 });
  admin = cluster.client.admin();
  await admin.connect();
  producer = await producerOf(cluster.client);
});
afterAll(async () => {
  await disconnectAll(admin, producer);
  await cluster.stop();
});

const values = (received: readonly { value: Buffer | null }[]) => received.map(({ value }) => String(value)).sort();
const toEach = (count: number, what: string) =>
  Array.from({ length: count }, (_, partition) => ({ partition, value: `${what}${partition}` }));
const committed = async (groupId: string, topic: string) => {
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return offsets!.partitions.map(({ offset }) => offset);
};

test('two consumers share the partitions, and each message goes to one of them', async () => {
  const topic = await newTopic(admin, 4);
  const groupId = newName('group');
  const one = await follow(cluster.client, topic, { groupId });
  await until(() => one.assigned().length === 4);
  const two = await follow(cluster.client, topic, { groupId });
  await until(() => one.assigned().length === 2 && two.assigned().length === 2);
  expect([...one.assigned(), ...two.assigned()].sort()).toEqual([0, 1, 2, 3]);
  await producer.send({ topic, messages: toEach(4, 'm') });
  await until(() => one.received.length + two.received.length === 4);
  expect(values([...one.received, ...two.received])).toEqual(['m0', 'm1', 'm2', 'm3']);
  expect(one.received).toHaveLength(2);
  await disconnectAll(one.consumer, two.consumer);
});

test('a consumer that leaves hands its partitions over', async () => {
  const topic = await newTopic(admin, 2);
  const groupId = newName('group');
  const stays = await follow(cluster.client, topic, { groupId });
  const leaves = await follow(cluster.client, topic, { groupId });
  await until(() => stays.assigned().length === 1 && leaves.assigned().length === 1);
  await leaves.consumer.disconnect();
  await until(() => stays.assigned().length === 2);
  await producer.send({ topic, messages: toEach(2, 'm') });
  await until(() => stays.received.length === 2);
  await stays.consumer.disconnect();
});

test('consumers of different groups each get everything', async () => {
  const topic = await newTopic(admin);
  await producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
  const [one, two] = await Promise.all([follow(cluster.client, topic), follow(cluster.client, topic)]);
  await until(() => one.received.length === 2 && two.received.length === 2);
  await disconnectAll(one.consumer, two.consumer);
});

test('a group goes on where it had committed', async () => {
  const topic = await newTopic(admin);
  const groupId = newName('group');
  await producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
  const first = await follow(cluster.client, topic, { groupId });
  await until(() => first.received.length === 2);
  await first.consumer.disconnect(); // commits
  expect(await committed(groupId, topic)).toEqual(['2']);
  await producer.send({ topic, messages: [{ value: 'c' }] });
  const second = await follow(cluster.client, topic, { groupId });
  await until(() => second.received.length === 1);
  await second.consumer.disconnect();
  expect(values(second.received)).toEqual(['c']);
});

test('offsets are kept by group, topic and partition', async () => {
  const topic = await newTopic(admin, 2);
  const other = await newTopic(admin, 2);
  const groupId = newName('group');
  expect(await committed(groupId, topic)).toEqual(['-1', '-1']);
  expect(await commitOffset(cluster.brokers, groupId, topic, 3)).toBe(0);
  expect(await committed(groupId, topic)).toEqual(['3', '-1']);
  expect(await commitOffset(cluster.brokers, groupId, topic, 2)).toBe(0); // backwards is fine
  expect(await committed(groupId, topic)).toEqual(['2', '-1']);
  expect(await committed(groupId, other)).toEqual(['-1', '-1']);
  expect(await committed(newName('group'), topic)).toEqual(['-1', '-1']);
});

test('an offset for a topic that is not there is refused', async () => {
  expect(await commitOffset(cluster.brokers, newName('group'), newName('topic'), 1)).toBe(3);
});

test('a consumer may not commit for a group that it is no member of', async () => {
  const topic = await newTopic(admin);
  const groupId = newName('group');
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.assigned().length === 1);
  expect(await commitOffset(cluster.brokers, groupId, topic, 0)).toBe(25);
  await member.consumer.disconnect();
});

test('a group shows its members, and is listed until it is deleted', async () => {
  const topic = await newTopic(admin, 2);
  const groupId = newName('group');
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.assigned().length === 2);
  const { groups } = await admin.describeGroups([groupId]);
  expect(groups[0]).toMatchObject({ groupId, state: 'Stable', protocolType: 'consumer', errorCode: 0 });
  expect(groups[0]!.members).toHaveLength(1);
  await expect(admin.deleteGroups([groupId])).rejects.toMatchObject({ groups: [{ errorCode: 68 }] });

  await producer.send({ topic, messages: toEach(2, 'm') });
  await until(() => member.received.length === 2);
  await member.consumer.disconnect();
  expect((await admin.describeGroups([groupId])).groups[0]).toMatchObject({ state: 'Empty', members: [] });
  expect((await admin.listGroups()).groups).toContainEqual(
    expect.objectContaining({ groupId, protocolType: 'consumer' }),
  );
  await admin.deleteGroups([groupId]);
  expect((await admin.listGroups()).groups.map((group) => group.groupId)).not.toContain(groupId);
  expect(await committed(groupId, topic)).toEqual(['-1', '-1']);
  expect((await admin.describeGroups([groupId])).groups[0]).toMatchObject({ state: 'Dead' });
});

test('deleting a group that is not there is refused', async () => {
  await expect(admin.deleteGroups([newName('group')])).rejects.toMatchObject({ groups: [{ errorCode: 69 }] });
});

test('the partitions of a consumer that went silent go to the others', async () => {
  const topic = await newTopic(admin, 2);
  const groupId = newName('group');
  const stays = await follow(cluster.client, topic, { groupId });
  // Its next sign of life would come long after its session has ended.
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
  await producer.send({ topic, messages: toEach(2, 'm') });
  await stuck;
  await until(() => stays.assigned().length === 2 && stays.received.length === 2);
  expect(values(stays.received)).toEqual(['m0', 'm1']);
  release();
  await disconnectAll(stays.consumer, silent);
});

test('the partitions of a consumer that crashed go to the others when its session is over', async () => {
  const topic = await newTopic(admin, 2);
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

test('a group that is new starts at the end unless it asks for the beginning', async () => {
  const topic = await newTopic(admin);
  await producer.send({ topic, messages: [{ value: 'before' }] });
  const late = await follow(cluster.client, topic, {}, { fromBeginning: false });
  await until(() => late.fetching());
  await producer.send({ topic, messages: [{ value: 'after' }] });
  await until(() => late.received.length > 0);
  await late.consumer.disconnect();
  expect(values(late.received)).toEqual(['after']);
});

test('a group whose offset is set back reads again from there', async () => {
  const topic = await newTopic(admin);
  const groupId = newName('group');
  await producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] });
  expect(await commitOffset(cluster.brokers, groupId, topic, 3)).toBe(0);
  expect(await commitOffset(cluster.brokers, groupId, topic, 1)).toBe(0);
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.received.length === 2);
  await member.consumer.disconnect();
  expect(values(member.received)).toEqual(['b', 'c']);
});

test('a group whose offset is beyond the end starts over', async () => {
  const topic = await newTopic(admin);
  const groupId = newName('group');
  await producer.send({ topic, messages: [{ value: 'a' }, { value: 'b' }] });
  expect(await commitOffset(cluster.brokers, groupId, topic, 100)).toBe(0);
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.received.length === 2);
  await member.consumer.disconnect();
  expect(values(member.received)).toEqual(['a', 'b']);
});

// Version 0, one topic "t", no user data: the real broker reads it. Source: ConsumerProtocolSubscription.json of Apache Kafka.
const SUBSCRIPTION = Buffer.from('00000000000100017400000000', 'hex');

describe('a static member', () => {
  const join = async (client: RawClient, groupId: string, memberId: string, instanceId: string) => {
    const response = await client.request(11, 5, (body) => {
      body.string(groupId).int32(30_000).int32(30_000).string(memberId).string(instanceId).string('consumer');
      body.array(['range'], (name) => body.string(name).bytes(SUBSCRIPTION));
    });
    response.int32();
    const [error, generation] = [response.int16(), response.int32()];
    const [protocol, leader, id] = [response.string(), response.string(), response.string()];
    return { error, generation, protocol, leader, memberId: id };
  };
  const sync = async (
    client: RawClient,
    groupId: string,
    generation: number,
    memberId: string,
    instanceId: string,
    assignment: string[],
  ) => {
    const response = await client.request(14, 3, (body) => {
      body.string(groupId).int32(generation).string(memberId).string(instanceId);
      body.array(assignment, (what) => body.string(memberId).bytes(Buffer.from(what)));
    });
    response.int32();
    return { error: response.int16(), assignment: String(response.bytes()) };
  };
  const heartbeat = async (
    client: RawClient,
    groupId: string,
    generation: number,
    memberId: string,
    instanceId: string,
  ) => {
    const response = await client.request(12, 3, (body) =>
      body.string(groupId).int32(generation).string(memberId).string(instanceId),
    );
    response.int32();
    return response.int16();
  };

  test('that starts again takes up its work without a rebalance, and who had its name is fenced', async () => {
    const client = await RawClient.connect(cluster.brokers);
    const groupId = newName('group');
    const first = await join(client, groupId, '', 'one');
    expect(first).toMatchObject({ error: 0, leader: first.memberId });
    expect(await sync(client, groupId, first.generation, first.memberId, 'one', ['work'])).toEqual({
      error: 0,
      assignment: 'work',
    });

    const second = await join(client, groupId, '', 'one');
    expect(second).toMatchObject({ error: 0, generation: first.generation });
    expect(second.memberId).not.toBe(first.memberId);
    expect(await sync(client, groupId, second.generation, second.memberId, 'one', [])).toEqual({
      error: 0,
      assignment: 'work',
    });
    expect(await heartbeat(client, groupId, second.generation, second.memberId, 'one')).toBe(0);
    expect(await heartbeat(client, groupId, first.generation, first.memberId, 'one')).toBe(82);
    client.close();
  });
});
