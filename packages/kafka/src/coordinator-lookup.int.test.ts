import { connect } from 'node:net';
import { type ISocketFactory, Kafka, logLevel } from 'kafkajs';
import { startBroker } from './testing/jest-broker.ts';
import { sendTo } from './testing/jest-numbered.ts';
import { ensureTopics } from './topics.ts';

const FIND_COORDINATOR = 10;

/** Opens sockets that fail instead of sending a FindCoordinator request, the first `failures` times. */
const failingSockets = (failures: number): ISocketFactory => {
  let left = failures;
  return ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const write = socket.write.bind(socket);
    return Object.assign(socket, {
      write: (request: Buffer) => {
        // Kafka protocol: the size in four bytes, then the API key in two.
        if (request.readInt16BE(4) !== FIND_COORDINATOR || left === 0) return write(request);
        left -= 1;
        socket.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
        return false;
      },
    });
  };
};

// Changed by patches/kafkajs@2.2.4.patch.
test('a consumer does not end when its connection closes while it looks for its coordinator', async () => {
  const { brokers, stop } = await startBroker();
  const kafka = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, socketFactory: failingSockets(3) });
  await ensureTopics(kafka, ['looked-up'], { partitions: 1, replication: 1 });
  await sendTo(kafka, 'looked-up', ['found']);
  const consumer = kafka.consumer({ groupId: 'looked-up', maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic: 'looked-up', fromBeginning: true });
  const result = await new Promise((resolve) => {
    consumer.on('consumer.crash', ({ payload: { error } }) => resolve(error));
    void consumer.run({ eachMessage: async ({ message }) => resolve(message.value?.toString()) });
  });
  await consumer.disconnect();
  await stop();
  expect(result).toBe('found');
});
