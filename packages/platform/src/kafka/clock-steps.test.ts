import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

// Classes of kafkajs that it does not export. They are changed by patches/kafkajs@2.2.4.patch.
interface ConsumerGroup {
  memberId: string;
  coordinator: object;
  heartbeat(options: { interval: number }): Promise<void>;
}
interface RequestQueue {
  push(request: object): void;
  maybeThrottle(throttleMs: number): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}
interface BrokerPool {
  findConnectedBroker: () => Promise<object>;
  refreshMetadataIfNecessary(topics: string[]): Promise<void>;
}
type Class<T> = new (options: object) => T;
const load = createRequire(import.meta.url);
const KafkaConsumerGroup = load('kafkajs/src/consumer/consumerGroup') as Class<ConsumerGroup>;
const KafkaRequestQueue = load('kafkajs/src/network/requestQueue') as Class<RequestQueue>;
const KafkaBrokerPool = load('kafkajs/src/cluster/brokerPool') as Class<BrokerPool>;
const silent = { namespace: () => silent, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const HOUR_MS = 3_600_000;
const wallClock = Date.now;
const setBack = () => {
  Date.now = () => wallClock() - HOUR_MS;
};
afterEach(() => {
  Date.now = wallClock;
});

const requestQueue = (requestTimeout: number) =>
  new KafkaRequestQueue({
    maxInFlightRequests: null,
    requestTimeout,
    enforceRequestTimeout: true,
    clientId: 'test',
    broker: 'broker:9092',
    logger: silent,
  });

const requestTo = (onEnd: (end: string) => void) => ({
  entry: { correlationId: 1, apiName: 'Fetch', resolve: () => {}, reject: ({ name }: Error) => onEnd(name) },
  expectResponse: true,
  sendRequest: () => onEnd('sent'),
});

test('a consumer sends heartbeats after the wall clock was set back', async () => {
  const group = new KafkaConsumerGroup({ logger: silent, instrumentationEmitter: { emit: () => {} } });
  let heartbeats = 0;
  group.memberId = 'member';
  group.coordinator = { heartbeat: async () => void (heartbeats += 1) };
  setBack();
  while (heartbeats < 2) {
    await sleep(5);
    await group.heartbeat({ interval: 10 });
  }
});

test('a request times out although the wall clock was set back', async () => {
  const queue = requestQueue(20);
  queue.scheduleRequestTimeoutCheck();
  const ends: string[] = [];
  await new Promise<void>((done) => {
    queue.push(
      requestTo((end) => {
        ends.push(end);
        if (end !== 'sent') done();
      }),
    );
    setBack();
  });
  queue.destroy();
  expect(ends).toEqual(['sent', 'KafkaJSRequestTimeoutError']);
});

test('a connection that the broker throttles goes on although the wall clock was set back', async () => {
  const queue = requestQueue(60_000);
  queue.maybeThrottle(20);
  setBack();
  await new Promise((done) => queue.push(requestTo(done)));
  queue.destroy();
});

test('a client reads the metadata of the cluster again after the wall clock was set back', async () => {
  let reads = 0;
  const pool = new KafkaBrokerPool({
    connectionPoolBuilder: { build: async () => ({}) },
    logger: silent,
    metadataMaxAge: 10,
  });
  pool.findConnectedBroker = async () => ({
    metadata: async () => {
      reads += 1;
      return { brokers: [], topicMetadata: [] };
    },
  });
  Object.assign(pool, { seedBroker: { connectionPool: { host: 'broker', port: 9092 } } });
  await pool.refreshMetadataIfNecessary([]);
  setBack();
  while (reads < 2) {
    await sleep(5);
    await pool.refreshMetadataIfNecessary([]);
  }
});
