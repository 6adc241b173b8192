import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import { until } from '../harness/until.ts';

/** How far a reader of the events is behind when the last create is answered. */
export interface Lag {
  /** Orders not seen yet. */
  readonly orders: number;
  /** Milliseconds until it has seen all. */
  readonly ms: number;
}

const CAUGHT_UP_WITHIN_MS = 60_000;

/** Polls `seen` until it reaches `expected`. */
export const lagOf = async (reader: string, expected: number, seen: () => Promise<number> | number): Promise<Lag> => {
  const began = performance.now();
  const orders = Math.max(0, expected - (await seen()));
  if (orders === 0) return { orders, ms: 0 };
  await until(`${reader} to catch up`, async () => (await seen()) >= expected, { withinMs: CAUGHT_UP_WITHIN_MS });
  return { orders, ms: performance.now() - began };
};

/** Counts the messages of `orders.v1` by the end offsets of its partitions, at little cost for the broker. */
export const messageCounter = async (brokers: string) => {
  const admin = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  return {
    count: async (): Promise<number> => {
      const partitions = await admin.fetchTopicOffsets(TOPICS.orders.name);
      return partitions.reduce((sum, { high }) => sum + Number(high), 0);
    },
    close: () => admin.disconnect(),
  };
};
