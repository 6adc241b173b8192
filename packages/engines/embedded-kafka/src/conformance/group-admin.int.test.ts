import { type Cluster, follow, newName, newTopic, startCluster, until } from '../testing/cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ minSessionTimeoutMs: 1_000 });
});
afterAll(() => cluster.stop());

const committed = async (groupId: string, topic: string) => {
  const [offsets] = await cluster.admin.fetchOffsets({ groupId, topics: [topic] });
  return offsets!.partitions.map(({ offset }) => offset);
};

test('a group is described and listed until it is deleted', async () => {
  const topic = await newTopic(cluster.admin, 2);
  const groupId = newName('group');
  const member = await follow(cluster.client, topic, { groupId });
  await until(() => member.assigned().length === 2);
  const { groups } = await cluster.admin.describeGroups([groupId]);
  expect(groups[0]).toMatchObject({ groupId, state: 'Stable', protocolType: 'consumer', errorCode: 0 });
  expect(groups[0]!.members).toHaveLength(1);
  await expect(cluster.admin.deleteGroups([groupId])).rejects.toMatchObject({ groups: [{ errorCode: 68 }] });

  await cluster.producer.send({
    topic,
    messages: [
      { partition: 0, value: 'm0' },
      { partition: 1, value: 'm1' },
    ],
  });
  await until(() => member.received.length === 2);
  await member.consumer.disconnect();
  expect((await cluster.admin.describeGroups([groupId])).groups[0]).toMatchObject({ state: 'Empty', members: [] });
  expect((await cluster.admin.listGroups()).groups).toContainEqual(
    expect.objectContaining({ groupId, protocolType: 'consumer' }),
  );
  await cluster.admin.deleteGroups([groupId]);
  expect((await cluster.admin.listGroups()).groups.map((group) => group.groupId)).not.toContain(groupId);
  expect(await committed(groupId, topic)).toEqual(['-1', '-1']);
  expect((await cluster.admin.describeGroups([groupId])).groups[0]).toMatchObject({ state: 'Dead' });
});

test('deleting a missing group is refused', async () => {
  await expect(cluster.admin.deleteGroups([newName('group')])).rejects.toMatchObject({ groups: [{ errorCode: 69 }] });
});
