import { reportSkipped } from './testing/apache/report-skipped.ts';
import { kafkaTools } from './testing/apache/tools.ts';
import { type Cluster, newName, newTopic, producerOf, readValues, startCluster } from './testing/cluster.ts';

// Apache Kafka's command line tools use its Java clients. Undefined if they are not available.
const kafkaTool = await kafkaTools().catch((error: unknown) => {
  reportSkipped('the tests with the Java clients', error);
  return undefined;
});
const testWithJava = kafkaTool ? test : test.skip;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const runKafkaTool = (name: string, args: readonly string[], input?: string) =>
  kafkaTool!(name, ['--bootstrap-server', cluster.brokers, ...args], input);
const sendValues = (topic: string, values: readonly string[]) =>
  cluster.producer.send({ topic, messages: values.map((value) => ({ value })) });
/** The first `count` messages as the console consumer prints them, one per line. */
const readWithJava = async (topic: string, count: number, extraArgs: readonly string[] = []): Promise<string[]> => {
  const args = ['--topic', topic, '--from-beginning', '--max-messages', String(count), '--timeout-ms', '20000'];
  return (await runKafkaTool('consumer.ConsoleConsumer', [...args, ...extraArgs])).trimEnd().split('\n');
};
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));

testWithJava("Java and kafkajs clients read each other's messages", async () => {
  const topic = await newTopic(cluster.admin);
  await cluster.producer.send({ topic, messages: [{ key: 'k', value: 'from kafkajs', headers: { trace: 'abc' } }] });
  await runKafkaTool('ConsoleProducer', ['--topic', topic, '--property', 'parse.key=true'], 'k\tfrom Java\n');
  const printKeysAndHeaders = ['print.key', 'print.headers'].flatMap((name) => ['--property', `${name}=true`]);
  expect(await readWithJava(topic, 2, printKeysAndHeaders)).toEqual([
    'trace:abc\tk\tfrom kafkajs',
    'NO_HEADERS\tk\tfrom Java',
  ]);
  expect(await readValues(cluster.client, topic, 2)).toEqual(['from kafkajs', 'from Java']);
});

testWithJava('Java clients write and read batches compressed with gzip', async () => {
  const topic = await newTopic(cluster.admin);
  const values = numbers(200);
  await runKafkaTool('ConsoleProducer', ['--topic', topic, '--compression-codec', 'gzip'], values.join('\n'));
  expect(await readWithJava(topic, 200)).toEqual(values);
});

testWithJava('a Java consumer resumes at the committed offset', async () => {
  const topic = await newTopic(cluster.admin);
  const group = ['--group', newName('group')];
  await sendValues(topic, numbers(10));
  expect(await readWithJava(topic, 4, group)).toEqual(['0', '1', '2', '3']);
  expect(await readWithJava(topic, 3, group)).toEqual(['4', '5', '6']);
});

testWithJava('a Java consumer starts at a reset offset', async () => {
  const topic = await newTopic(cluster.admin);
  const group = ['--group', newName('group')];
  await sendValues(topic, numbers(10));
  await readWithJava(topic, 4, group);
  const resetToOffset2 = ['--reset-offsets', '--to-offset', '2', '--topic', topic, '--execute'];
  await runKafkaTool('consumer.group.ConsumerGroupCommand', [...resetToOffset2, ...group]);
  expect(await readWithJava(topic, 2, group)).toEqual(['2', '3']);
});

testWithJava('a Java consumer with read_committed reads the messages of committed transactions', async () => {
  const topic = await newTopic(cluster.admin);
  await sendAbortedTransaction(topic);
  const load = ['--topic', topic, '--num-records', '100', '--record-size', '10', '--throughput', '-1'];
  const transactions = ['--transactional-id', newName('tx'), '--transaction-duration-ms', '1'];
  const producerProperties = ['--producer-props', `bootstrap.servers=${cluster.brokers}`];
  await kafkaTool!('ProducerPerformance', [...load, ...transactions, ...producerProperties]);
  const committed = await readWithJava(topic, 100, ['--isolation-level', 'read_committed']);
  expect(committed).toHaveLength(100);
  expect(committed).not.toContain('aborted');
  expect(await readWithJava(topic, 101, ['--isolation-level', 'read_uncommitted'])).toEqual(['aborted', ...committed]);
  expect(await readValues(cluster.client, topic, 100)).toEqual(committed);
});

const sendAbortedTransaction = async (topic: string): Promise<void> => {
  const producer = await producerOf(cluster.client, {
    transactionalId: newName('tx'),
    idempotent: true,
    maxInFlightRequests: 1,
  });
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ value: 'aborted' }] });
  await transaction.abort();
  await producer.disconnect();
};
