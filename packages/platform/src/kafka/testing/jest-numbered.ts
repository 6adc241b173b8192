import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../log/logger.ts';
import { type Kafka, Partitioners } from 'kafkajs';
import { z } from 'zod';
import { createKafka } from '../client.ts';
import { startBroker } from './jest-broker.ts';

export const log = createLogger({ name: 'test', level: 'silent' });

/** The messages of these tests. */
export const Numbered = z.object({ n: z.int() });

export const clientOf = (brokers: string): Kafka =>
  createKafka({ KAFKA_BROKERS: [brokers] }, { clientId: 'test', log });

/** Sends messages with one key. */
export const sendTo = async (kafka: Kafka, topic: string, values: (string | null)[]): Promise<void> => {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: values.map((value) => ({ key: 'k', value })) });
  await producer.disconnect();
};

/** A broker, a client, and what sends messages with one key. */
export const startNumbered = async () => {
  const { brokers, stop } = await startBroker();
  const kafka = clientOf(brokers);
  return { kafka, send: (topic: string, values: (string | null)[]) => sendTo(kafka, topic, values), stop };
};

export const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(20);
};
