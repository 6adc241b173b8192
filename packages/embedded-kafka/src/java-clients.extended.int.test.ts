import { reportSkipped } from './testing/apache/report-skipped.ts';
import { kafkaTools } from './testing/apache/tools.ts';
import { type Cluster, newName, newTopic, readValues, startCluster } from './testing/cluster.ts';

// The Java clients of Apache Kafka, as used by its command line tools.
const tool = await kafkaTools().catch((error: unknown) => {
  reportSkipped('the tests with the Java clients', error);
  return undefined;
});
const java = tool ? test : test.skip;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const run = (name: string, args: readonly string[], input?: string) =>
  tool!(name, ['--bootstrap-server', cluster.brokers, ...args], input);
const send = (topic: string, values: readonly string[]) =>
  cluster.producer.send({ topic, messages: values.map((value) => ({ value })) });
/** The first `count` messages as the console consumer prints them, one per line. */
const read = async (topic: string, count: number, more: readonly string[] = []): Promise<string[]> => {
  const args = ['--topic', topic, '--from-beginning', '--max-messages', String(count), '--timeout-ms', '20000'];
  return (await run('consumer.ConsoleConsumer', [...args, ...more])).trimEnd().split('\n');
};
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));

java('the Java tools create and describe topics', async () => {
  const topic = newName('topic');
  await run('TopicCommand', ['--create', '--topic', topic, '--partitions', '3', '--config', 'retention.ms=60000']);
  const described = await run('TopicCommand', ['--describe', '--topic', topic]);
  expect(described).toContain('PartitionCount: 3');
  expect(described).toContain('retention.ms=60000');
});

java('the Java clients read messages of kafkajs, and kafkajs reads theirs', async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, messages: [{ key: 'k', value: 'from kafkajs', headers: { trace: 'abc' } }] });
  await run('ConsoleProducer', ['--topic', topic, '--property', 'parse.key=true'], 'k\tfrom Java\n');
  const show = ['print.key', 'print.headers'].flatMap((name) => ['--property', `${name}=true`]);
  expect(await read(topic, 2, show)).toEqual(['trace:abc\tk\tfrom kafkajs', 'NO_HEADERS\tk\tfrom Java']);
  expect(await readValues(cluster.client, topic, 2)).toEqual(['from kafkajs', 'from Java']);
});

java('the Java clients write and read snappy, lz4 and zstd batches', async () => {
  const topic = await newTopic(cluster.admin);
  const codecs = ['snappy', 'lz4', 'zstd'];
  const values = (codec: string) => numbers(200).map((n) => `${codec} ${n}`);
  for (const codec of codecs) {
    await run('ConsoleProducer', ['--topic', topic, '--compression-codec', codec], values(codec).join('\n'));
  }
  expect(await read(topic, 600)).toEqual(codecs.flatMap(values));
});

java('the Java consumer continues at the committed offset, and at an offset that was reset', async () => {
  const topic = await newTopic(cluster.admin);
  const group = ['--group', newName('group')];
  await send(topic, numbers(10));
  expect(await read(topic, 4, group)).toEqual(['0', '1', '2', '3']);
  expect(await read(topic, 3, group)).toEqual(['4', '5', '6']);
  const to = ['--reset-offsets', '--to-offset', '2', '--topic', topic, '--execute'];
  await run('consumer.group.ConsumerGroupCommand', [...to, ...group]);
  expect(await read(topic, 2, group)).toEqual(['2', '3']);
});

java('the Java producer writes in transactions, and the consumer reads what was committed', async () => {
  const topic = await newTopic(cluster.admin);
  const load = ['--topic', topic, '--num-records', '100', '--record-size', '10', '--throughput', '-1'];
  const transactions = ['--transactional-id', newName('tx'), '--transaction-duration-ms', '1'];
  const props = ['--producer-props', `bootstrap.servers=${cluster.brokers}`];
  await tool!('ProducerPerformance', [...load, ...transactions, ...props]);
  const committed = await read(topic, 100, ['--isolation-level', 'read_committed']);
  expect(committed).toHaveLength(100);
  expect(await readValues(cluster.client, topic, 100)).toEqual(committed);
});
