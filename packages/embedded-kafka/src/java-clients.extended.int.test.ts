import type { Admin, Producer } from 'kafkajs';
import { skipped } from './testing/apache/report-skipped.ts';
import { kafkaTools } from './testing/apache/tools.ts';
import {
  type Cluster,
  disconnectAll,
  newName,
  newTopic,
  producerOf,
  readValues,
  startCluster,
} from './testing/cluster.ts';

// Kafka's own clients, those of Java, as they come with its command line tools.
const tool = await kafkaTools().catch((error: unknown) => {
  skipped('the tests with the clients of Java', error);
  return undefined;
});
const java = tool ? test : test.skip;

let cluster: Cluster;
let admin: Admin;
let producer: Producer;
beforeAll(async () => {
  cluster = await startCluster();
  admin = cluster.client.admin();
  await admin.connect();
  producer = await producerOf(cluster.client);
});
afterAll(async () => {
  await disconnectAll(admin, producer);
  await cluster.stop();
});

const run = (name: string, args: readonly string[], input?: string) =>
  tool!(name, ['--bootstrap-server', cluster.brokers, ...args], input);
const send = (topic: string, values: readonly string[]) =>
  producer.send({ topic, messages: values.map((value) => ({ value })) });
/** What the consumer prints of the first `count` messages, a line each. */
const read = async (topic: string, count: number, more: readonly string[] = []): Promise<string[]> => {
  const what = ['--topic', topic, '--from-beginning', '--max-messages', String(count), '--timeout-ms', '20000'];
  return (await run('consumer.ConsoleConsumer', [...what, ...more])).trimEnd().split('\n');
};
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));

java('make and describe topics', async () => {
  const topic = newName('topic');
  await run('TopicCommand', ['--create', '--topic', topic, '--partitions', '3', '--config', 'retention.ms=60000']);
  const described = await run('TopicCommand', ['--describe', '--topic', topic]);
  expect(described).toContain('PartitionCount: 3');
  expect(described).toContain('retention.ms=60000');
});

java('read what kafkajs wrote, and the other way round', async () => {
  const topic = await newTopic(admin);
  await producer.send({ topic, messages: [{ key: 'k', value: 'from kafkajs', headers: { trace: 'abc' } }] });
  await run('ConsoleProducer', ['--topic', topic, '--property', 'parse.key=true'], 'k\tfrom Java\n');
  const show = ['print.key', 'print.headers'].flatMap((name) => ['--property', `${name}=true`]);
  expect(await read(topic, 2, show)).toEqual(['trace:abc\tk\tfrom kafkajs', 'NO_HEADERS\tk\tfrom Java']);
  expect(await readValues(cluster.client, topic, 2)).toEqual(['from kafkajs', 'from Java']);
});

java('write batches in the compressions that kafkajs does not have, and read them', async () => {
  const topic = await newTopic(admin);
  const codecs = ['snappy', 'lz4', 'zstd'];
  const values = (codec: string) => numbers(200).map((n) => `${codec} ${n}`);
  for (const codec of codecs) {
    await run('ConsoleProducer', ['--topic', topic, '--compression-codec', codec], values(codec).join('\n'));
  }
  expect(await read(topic, 600)).toEqual(codecs.flatMap(values));
});

java('go on where their group had committed, and from where it is reset to', async () => {
  const topic = await newTopic(admin);
  const group = ['--group', newName('group')];
  await send(topic, numbers(10));
  expect(await read(topic, 4, group)).toEqual(['0', '1', '2', '3']);
  expect(await read(topic, 3, group)).toEqual(['4', '5', '6']);
  const to = ['--reset-offsets', '--to-offset', '2', '--topic', topic, '--execute'];
  await run('consumer.group.ConsumerGroupCommand', [...to, ...group]);
  expect(await read(topic, 2, group)).toEqual(['2', '3']);
});

java('write in transactions, and read what was committed', async () => {
  const topic = await newTopic(admin);
  const load = ['--topic', topic, '--num-records', '100', '--record-size', '10', '--throughput', '-1'];
  const transactions = ['--transactional-id', newName('tx'), '--transaction-duration-ms', '1'];
  const props = ['--producer-props', `bootstrap.servers=${cluster.brokers}`];
  await tool!('ProducerPerformance', [...load, ...transactions, ...props]);
  const committed = await read(topic, 100, ['--isolation-level', 'read_committed']);
  expect(committed).toHaveLength(100);
  expect(await readValues(cluster.client, topic, 100)).toEqual(committed);
});
