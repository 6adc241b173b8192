import { connect } from 'node:net';
import { type ISocketFactory, Kafka, logLevel } from 'kafkajs';
import { startEmbeddedBroker } from './testing/jest-broker.ts';
import { until } from './testing/jest-numbered.ts';
import { ensureTopics } from './topics.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Opens sockets of which one fails at a request of the kind that `failAt` names. */
const failingSockets = () => {
  let failing: number | null = null;
  const open: ISocketFactory = ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const write = socket.write.bind(socket);
    return Object.assign(socket, {
      write: (request: Buffer) => {
        // Kafka protocol: the size in four bytes, then the API key in two.
        if (request.readInt16BE(4) !== failing) return write(request);
        failing = null;
        socket.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
        return false;
      },
    });
  };
  return { open, failAt: (apiKey: number) => (failing = apiKey), hasFailed: () => failing === null };
};

const STEPS: [string, number][] = [
  ['looks for its coordinator', 10],
  ['joins', 11],
  ['asks for its partitions', 14],
];

// Changed by patches/kafkajs@2.2.4.patch.
test.each(STEPS)('a consumer comes back to its group when its connection closes while it %s', async (_, apiKey) => {
  const broker = await startEmbeddedBroker();
  cleanUps.push(broker.remove);
  const sockets = failingSockets();
  const kafka = new Kafka({ brokers: [broker.brokers], logLevel: logLevel.NOTHING, socketFactory: sockets.open });
  await ensureTopics(kafka, ['quiet'], { partitions: 1, replication: 1 });
  const consumer = kafka.consumer({ groupId: 'returning', heartbeatInterval: 100, maxWaitTimeInMs: 100 });
  cleanUps.push(() => consumer.disconnect());
  let joins = 0;
  consumer.on('consumer.group_join', () => void (joins += 1));
  await consumer.connect();
  await consumer.subscribe({ topic: 'quiet' });
  await consumer.run({ eachMessage: async () => {} });
  await until(() => joins === 1);
  sockets.failAt(apiKey);
  // A restarted broker does not know the members of the group.
  await broker.stop();
  await broker.start();
  await until(() => sockets.hasFailed());
  await until(() => joins === 2);
});
