import { createLogger } from '../log/logger.ts';
import type { Kafka, KafkaMessage, Message, ProducerRecord } from 'kafkajs';
import { createDeadLetterProducer } from './dead-letter-producer.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const RECORD: KafkaMessage = {
  key: Buffer.from('k'),
  value: Buffer.alloc(1_048_000, 1),
  timestamp: '0',
  attributes: 0,
  offset: '7',
  headers: { trace: 't'.repeat(100) },
};

/** A broker that refuses some messages with an error of this type. */
const producerFor = (refuses: (message: Message) => boolean, type: string) => {
  const taken: ProducerRecord[] = [];
  const counted: string[] = [];
  const producer = {
    connect: async () => {},
    disconnect: async () => {},
    send: async (record: ProducerRecord) => {
      if (record.messages.some(refuses)) throw Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type });
      taken.push(record);
    },
  };
  const kafka = { producer: () => producer } as unknown as Kafka;
  return { taken, counted, ...createDeadLetterProducer(kafka, 'group', (topic) => void counted.push(topic)) };
};

test.each(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP'])(
  'a message of which Kafka takes no copy leaves its origin and its reason, and stops no partition: %s',
  async (type) => {
    const { send, taken, counted } = producerFor(({ value }) => value !== null, type);
    await send('orders.v1', 3, RECORD, 'not JSON', log);
    const [{ topic, messages } = { messages: [] as Message[] }] = taken;
    expect([topic, messages]).toMatchObject([
      'orders.v1.dlq',
      [{ value: null, headers: { topic: 'orders.v1', partition: '3', offset: '7', group: 'group' } }],
    ]);
    expect(messages[0]!.headers).toMatchObject({
      reason: expect.stringMatching(/^Kafka refused a copy of this message: .*\nnot JSON$/),
    });
    expect([taken.length, counted]).toEqual([1, ['orders.v1']]);
  },
);

test('any other failure is thrown, so that the message is consumed again', async () => {
  const { send, taken, counted } = producerFor(() => true, 'NOT_LEADER_OR_FOLLOWER');
  await expect(send('orders.v1', 3, RECORD, 'not JSON', log)).rejects.toThrow('NOT_LEADER');
  expect([taken, counted]).toEqual([[], []]);
});
